#pragma once

#include "actors/backfill/limits.hpp"
#include "atproto/limits.hpp"
#include "atproto/repo_walk.hpp"
#include "atproto/spool.hpp"
#include "messages/backfill.hpp"
#include "storage/format/update.hpp"
#include "wire/filter.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::actors {

/// What an import starts from. A copy without records counts as no copy.
struct import_order : fetch_order {
  atproto::did repo;
  /// Entries of the block index in memory; more lie in the index spool.
  size_t index_entries_max = limits::walk_index_entries_max;
};

/// Proves one fetched repository and finds how it differs from the stored copy
/// (architecture.md, The stages): creates, updates and deletes. Nothing is
/// handed out before the whole CAR was proved.
///
/// Feed the body, call `finish`, then call `step` until it is done, and pass
/// pages of our record heads when it asks for them.
///
/// # Threads
/// One at a time; it may change between calls.
class import_machine {
public:
  import_machine(import_order order, std::unique_ptr<atproto::spool> store,
                 std::unique_ptr<atproto::spool> index);

  result<void> feed(bytes_view piece) { return walk_.feed(piece); }

  /// The body ended without an error. Checks the root commit, and refuses one
  /// that is older than the stored copy or than a missed event (a stale mirror,
  /// protocol-coverage.md 5.3).
  result<void> finish(wall_time now);

  /// Does one quantum of work: at most `records_max` records.
  result<import_progress> step(size_t records_max);

  /// The next page of heads, in path order.
  void on_heads(std::vector<heads_page::head> page, bool end);

  /// @pre `finish` succeeded
  const atproto::verified_root& root() const noexcept { return *root_; }

  /// The rev of a root that `finish` refused only because of our clock, if any.
  atproto::tid ahead() const noexcept { return ahead_; }

  uint64_t bytes_fed() const noexcept { return walk_.bytes_fed(); }

  uint64_t records() const noexcept { return records_; }

private:
  enum class phase : uint8_t { feeding, proving, comparing, done };

  /// One fetched record that waits to be compared.
  struct fetched {
    std::string path;
    atproto::cid id;
    size_t offset = 0; ///< Place of the record in `arena_`.
    size_t size = 0;
    bool undecodable = false;
  };

  result<void> prove(size_t records_max);
  result<void> refill(size_t records_max);
  void take(const atproto::walked_record& x);
  bool compare(import_progress& out);
  void emit(const fetched& x, const atproto::cid& before);
  void emit_delete(const heads_page::head& x);
  void push(const std::string& path, storage::new_operation op);
  void close_chunk() {
    if (ops_.empty())
      return;
    ready_.push_back(std::exchange(ops_, {}));
    ops_bytes_ = 0;
  }

  import_order order_;
  std::unique_ptr<atproto::spool> store_;
  std::unique_ptr<atproto::spool> index_;
  atproto::repo_walk walk_;
  std::optional<atproto::verified_root> root_;
  atproto::tid ahead_;
  phase phase_ = phase::feeding;
  uint64_t records_ = 0;

  /// Records of the window: of a small repo, or of a step of the second pass.
  std::deque<fetched> window_;
  std::shared_ptr<bytes> arena_;
  bool window_is_all_ = true;
  bool walked_all_ = false;

  std::deque<heads_page::head> heads_;
  std::string last_head_;
  bool heads_end_ = false;

  std::vector<storage::new_operation> ops_;
  size_t ops_bytes_ = 0;
  std::deque<std::vector<storage::new_operation>> ready_;
};

} // namespace weir::actors

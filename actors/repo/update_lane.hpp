#pragma once

#include "actors/repo/repo_types.hpp"
#include "storage/tables/limits.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::actors {

/// The updates of one repo: the one in flight to the JOURNAL, and the next one,
/// which collects everything that is decided meanwhile.
///
/// One update is in flight at a time. A frame is finished, so that its upstream
/// may forget it, when everything that was decided before it is durable: its
/// position waits for the next update, or for the one in flight, or for none.
/// When an update is refused, its content, except for commits, goes into the
/// next.
class update_lane {
public:
  /// @param incarnation The owning actor's number, sent with every update.
  update_lane(atproto::did repo, uint64_t incarnation) noexcept
    : repo_(std::move(repo)), incarnation_(incarnation) {}

  /// Sets what the store has.
  void on_loaded(std::optional<storage::repo_status> status,
                 std::shared_ptr<const storage::chain_row> chain) {
    written_status_ = status;
    chain_ = std::move(chain);
  }

  const atproto::did& repo() const noexcept { return repo_; }

  /// The durable chain; null before the first index.
  const std::shared_ptr<const storage::chain_row>& chain() const noexcept {
    return chain_;
  }

  bool in_flight() const noexcept { return in_flight_; }

  /// Whether no update in flight changes the durable chain.
  bool chain_stands() const noexcept {
    return !in_flight_ || !sent_.moves_chain;
  }

  /// Whether something waits for the next update.
  bool unsent() const noexcept { return used_; }
  bool row_unsent() const noexcept { return row_dirty_; }

  /// Whether the next update has as many commits as one may have.
  bool full() const noexcept {
    return next_.transactions.size() + passed_
           >= limits::repo_coalesced_commits_max;
  }

  // -- what the next update carries -------------------------------------------

  /// The next update carries the row as it is when the update is sent.
  void touch_row() noexcept { row_dirty_ = used_ = true; }

  /// @param content_bytes Size of the records and blocks in the transaction.
  void append(storage::transaction tx, size_t content_bytes = 0) {
    next_.transactions.push_back(std::move(tx));
    content_bytes_ += content_bytes;
    used_ = true;
  }

  void move_chain(storage::chain_step to) {
    next_.chain = std::move(to);
    used_ = true;
  }

  /// Moves the chain to a commit that is not in the log.
  void pass_commit(storage::chain_step to) {
    ++passed_;
    content_bytes_ += to.passed_block.size();
    move_chain(std::move(to));
  }

  /// Appends an `$identity` or `$account` operation with what the row says.
  void append_fact(std::string_view scope, const storage::repo_row& row,
                   now_time now);

  void set_member(storage::member_row x) {
    next_.member = std::move(x);
    used_ = true;
  }

  /// Adds a frame to the sync buffer on disk.
  void put_in_buffer(uint64_t number, atproto::stamped_frame frame) {
    next_.buffer_put.push_back({number, std::move(frame)});
    used_ = true;
  }
  void clear_buffer() noexcept {
    next_.buffer_put.clear(); // They would be written after the clear.
    next_.buffer_clear = true;
    used_ = true;
  }
  bool puts_in_buffer() const noexcept { return !next_.buffer_put.empty(); }

  /// Marks all content as erased. Commits that are not sent yet are dropped.
  void erase() {
    drop_commits();
    next_.erase = true;
    used_ = true;
  }
  bool erases() const noexcept { return next_.erase; }

  // -- one life and the next --------------------------------------------------

  /// Removes the repo with all its rows. What waited to be written is dropped.
  void remove();

  /// There is no row of the repo on disk.
  void begin_life() noexcept { written_status_.reset(); }

  // -- sending ----------------------------------------------------------------

  /// Finishes the frame when everything decided before it is durable.
  void settle(const waiting_frame& x, repo_effects& out);

  /// Whether another update may be sent.
  bool free(const repo_effects& out) const noexcept {
    return !in_flight_ && !out.update;
  }

  /// @pre free and unsent
  void send(const storage::repo_row& row, repo_effects& out);

  /// Sends one chunk of a fetch, which may wait behind live updates.
  /// @pre free and not unsent
  void send_chunk(repo_chunk x, repo_effects& out);

  // -- what became of the update ----------------------------------------------

  /// The update is no longer in flight. @returns whether it was a chunk.
  bool land() noexcept {
    in_flight_ = false;
    return std::exchange(chunk_in_flight_, false);
  }

  void written(std::shared_ptr<const storage::chain_row> chain) noexcept {
    chain_ = std::move(chain);
  }

  /// The update was refused for good: its frames wait for the next one.
  /// @param removing This update or the next one removes the repo.
  void refused(bool removing);

  /// The next update carries what the refused one did, except for commits.
  void take_back(const storage::repo_row& row, now_time now);

  /// Positions of the frames that waited for the update, which has landed.
  std::vector<position> take_followers() noexcept {
    return std::exchange(followers_, {});
  }

private:
  /// What must be restored when the update in flight is refused.
  struct sent_update {
    std::vector<position> marks;
    /// The status before it.
    std::optional<storage::repo_status> written_status;
    std::optional<storage::member_row> member;
    bool erase = false;
    bool buffer_clear = false;
    bool commits = false;
    bool moves_chain = false;
    bool account_fact = false;
    bool identity_fact = false;
  };

  /// Whether a transaction is a commit. Facts stand for themselves.
  static bool is_commit(const storage::transaction& x) {
    return x.rev.defined();
  }
  void drop_commits() {
    std::erase_if(next_.transactions, is_commit);
    next_.chain.reset();
    passed_ = 0;
  }
  void remember_sent();
  std::shared_ptr<storage::repo_update> guarded(storage::repo_update x) const;

  atproto::did repo_;
  uint64_t incarnation_;
  std::shared_ptr<const storage::chain_row> chain_;
  /// The status in the last update that was sent; none without a row.
  std::optional<storage::repo_status> written_status_;
  storage::repo_update next_;
  std::vector<position> marks_; ///< Frames that the next update finishes.
  size_t content_bytes_ = 0;    ///< Content bytes of the next update.
  size_t passed_ = 0; ///< Commits of the next update that have no entry.
  bool used_ = false;
  bool row_dirty_ = false;
  bool in_flight_ = false;
  bool chunk_in_flight_ = false;
  std::vector<position> followers_; ///< What the update in flight finishes.
  sent_update sent_;
};

} // namespace weir::actors

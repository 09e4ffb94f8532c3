#pragma once

#include "actors/repo/waiting_frame.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::actors {

/// The updates of one repo: the one that is in flight to the JOURNAL, and the
/// next one, which carries all that is decided meanwhile.
///
/// One update is in flight at a time. A frame is finished, so that its upstream
/// may forget it, when everything that was decided before it is durable: its
/// position waits for the next update, or for the one in flight, or for none.
/// What is refused comes back and goes into the next update, but for commits.
class update_lane {
public:
  /// @param incarnation Of the owning actor; goes with every update.
  update_lane(atproto::did repo, uint64_t incarnation) noexcept;

  /// What the store holds.
  void on_loaded(std::optional<storage::repo_status> status,
                 std::shared_ptr<const storage::chain_row> chain);

  const atproto::did& repo() const noexcept { return repo_; }

  /// The durable chain; null before the first index.
  const std::shared_ptr<const storage::chain_row>& chain() const noexcept {
    return chain_;
  }

  bool in_flight() const noexcept { return in_flight_; }

  /// `chain()` is still the durable chain when what is in flight is written: no
  /// update in flight changes it.
  bool chain_stands() const noexcept {
    return !in_flight_ || !sent_.moves_chain;
  }

  /// Something waits for the next update.
  bool unsent() const noexcept { return used_; }
  bool row_unsent() const noexcept { return row_dirty_; }

  /// The next update has as many commits as one may have.
  bool full() const noexcept;

  // -- what the next update carries -------------------------------------------

  /// The row, as it is when the update is sent.
  void touch_row() noexcept { row_dirty_ = used_ = true; }

  /// @param content_bytes Of records and blocks in it.
  void append(storage::transaction tx, size_t content_bytes = 0);

  void move_chain(storage::chain_step to);

  /// One `$identity` or `$account` operation: what the row says now.
  void append_fact(std::string_view scope, const storage::repo_row& row,
                   now_time now);

  void set_member(storage::member_row x);

  /// Frames for the sync buffer on disk.
  void put_in_buffer(uint64_t number, atproto::stamped_frame frame);
  void clear_buffer() noexcept;
  bool puts_in_buffer() const noexcept { return !next_.buffer_put.empty(); }

  /// Marks all content as erased. Commits that no update carries yet would
  /// outlive that mark, so they are not applied after all.
  void erase();
  bool erases() const noexcept { return next_.erase; }

  // -- one life and the next --------------------------------------------------

  /// The repo goes with all that it has; what waited to be written is void.
  void remove();

  /// There is no row of it on disk.
  void begin_life() noexcept { written_status_.reset(); }

  // -- sending ----------------------------------------------------------------

  /// The frame is finished as soon as what was decided before it is durable.
  void settle(const waiting_frame& x, repo_effects& out);

  /// Whether another update may be sent.
  bool free(const repo_effects& out) const noexcept {
    return !in_flight_ && !out.update;
  }

  /// @pre free and unsent
  void send(const storage::repo_row& row, repo_effects& out);

  /// An update of its own, which may wait behind live ones.
  /// @pre free and not unsent
  void send_chunk(fetch_chunk x, repo_effects& out);

  // -- what became of the update ----------------------------------------------

  /// It is in flight no more. @returns whether it was a chunk.
  bool land() noexcept;

  void written(std::shared_ptr<const storage::chain_row> chain) noexcept {
    chain_ = std::move(chain);
  }

  /// It was refused for good: the frames that it would have finished wait for
  /// the next update.
  /// @param removing The next one, or this one, removes the repo.
  void refused(bool removing);

  /// What it carried and cannot be had again goes into the next update. Its
  /// commits do not.
  void take_back(const storage::repo_row& row, now_time now);

  /// Frames that followed the update, which has landed.
  std::vector<position> take_followers() noexcept;

private:
  /// What cannot be had again when the update in flight is refused.
  struct sent_update {
    std::vector<position> marks;
    std::optional<storage::repo_status> written_status; ///< Before it.
    std::optional<storage::member_row> member;
    bool erase = false;
    bool buffer_clear = false;
    bool commits = false;
    bool moves_chain = false;
    bool account_fact = false;
    bool identity_fact = false;
  };

  void drop_commits();
  void remember_sent();
  storage::repo_update guarded(storage::repo_update x) const;

  atproto::did repo_;
  uint64_t incarnation_;
  std::shared_ptr<const storage::chain_row> chain_;
  /// As the last update that was sent has it; none: there is no row.
  std::optional<storage::repo_status> written_status_;
  storage::repo_update next_;
  std::vector<position> marks_; ///< Finished with the next update.
  size_t content_bytes_ = 0;    ///< In the next update.
  bool used_ = false;
  bool row_dirty_ = false;
  bool in_flight_ = false;
  bool chunk_in_flight_ = false;
  std::vector<position> followers_; ///< Finished with the one in flight.
  sent_update sent_;
};

} // namespace weir::actors

#pragma once

#include "actors/repo/sync_buffer.hpp"

#include <optional>
#include <utility>

namespace weir::actors {

/// The running fetch of a repo, if there is one: what was permitted and
/// ordered, and the fetched parts that are not written yet. Commits that arrive
/// during the fetch are in the sync buffer, which is dropped with the fetch.
class fetch_job {
public:
  explicit fetch_job(sync_buffer& buffer) noexcept : buffer_(buffer) {}

  bool runs() const noexcept { return job_.has_value(); }
  bool is(uint64_t id) const noexcept { return runs() && job_->id == id; }

  /// Everything that was fetched is written, and the buffered commits follow.
  bool drains() const noexcept {
    return runs() && buffer_.drains_after_fetch();
  }

  /// @param noted Where the upstream that accounts for the repo stands now.
  void begin(uint64_t id, const position& noted) {
    job_ = job{};
    job_->id = id;
    job_->noted = noted;
  }

  /// @param outcome A failure stops the BACKFILL.
  void end(result<void> outcome, repo_turn& t) {
    t.row.resync_id = 0;
    t.touch_row();
    if (runs())
      t.out.job_end
        = job_ended{t.lane.repo(), job_->id, std::move(outcome)};
    job_.reset();
    buffer_.drop(t);
  }

  /// The download may be ordered once the row that says `syncing` was sent.
  bool awaits_order() const noexcept { return runs() && !job_->ordered; }

  /// @param filter_generation That of the filter for this download.
  uint64_t order(uint32_t filter_generation) noexcept {
    job_->ordered = true;
    job_->filter_generation = filter_generation;
    return job_->id;
  }

  void add(repo_chunk x) { job_->chunks.push_back(std::move(x)); }

  /// Takes the next part that may be written.
  std::optional<repo_chunk> take_chunk() {
    if (!runs() || !job_->ordered || job_->chunks.empty())
      return std::nullopt;
    auto out = std::move(job_->chunks.front());
    job_->chunks.pop_front();
    return out;
  }

  /// Sets the root; no chunk follows it.
  void set_root(const atproto::verified_root& x) { job_->root = x; }

  /// Whether all chunks were handed out, so that the root may follow.
  bool awaits_root() const noexcept {
    return runs() && job_->root && !drains() && job_->chunks.empty();
  }

  // -- what is fetched: @pre runs() -------------------------------------------

  uint64_t id() const noexcept { return job_->id; }
  const position& noted() const noexcept { return job_->noted; }
  const atproto::verified_root& root() const noexcept { return *job_->root; }
  uint32_t filter_generation() const noexcept {
    return job_->filter_generation;
  }

private:
  struct job {
    uint64_t id = 0;
    position noted;
    bool ordered = false;
    uint32_t filter_generation = 0;
    std::optional<atproto::verified_root> root;
    lazy_deque<repo_chunk> chunks;
  };

  sync_buffer& buffer_;
  std::optional<job> job_;
};

} // namespace weir::actors

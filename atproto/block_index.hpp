#pragma once

#include "atproto/limits.hpp"
#include "atproto/spool.hpp"

#include <functional>
#include <vector>

namespace weir::atproto {

/// The place of a block's bytes in a spool.
struct block_place {
  uint64_t offset = 0;
  size_t size = 0;
};

/// Finds blocks of a CAR by their digest. It keeps 16 bytes for each block, in
/// sorted runs. Runs stay in memory up to `entries_max` entries. Beyond that
/// they are written to a spool and merged there into one run, which is searched
/// by reading one page.
///
/// An entry keeps the first eight bytes of the digest, so a lookup gives
/// candidates that the caller compares. Blocks with the same eight bytes and
/// the same size count as one block.
///
/// # Limits
/// Memory: `entries_max` * 16 bytes; while merging 5 KiB for each run, and
/// after that 32 bytes for each 1,024 blocks. Offsets are below 2^40, sizes
/// below 2^24.
///
/// # Threads
/// One thread. A call sorts at most one run, and merges no more entries than it
/// is asked to.
class block_index {
public:
  /// @param overflow Takes the runs beyond `entries_max`; outlives the index.
  /// @param run_entries Number of entries in a run.
  explicit block_index(spool& overflow,
                       size_t entries_max = limits::walk_index_entries_max,
                       size_t run_entries = limits::walk_index_run_entries);

  result<void> add(const uint8_t* digest, block_place at);

  /// Call this after the last `add`. Merges up to `work_max` entries. Returns
  /// true when `find` may be called; otherwise call it again.
  result<bool> prepare(size_t work_max);

  /// Says whether a candidate is the block that is looked for.
  using candidate_check = std::function<result<bool>(block_place)>;

  /// Offers candidates until one fits; false when none does.
  /// @pre `prepare` returned true
  result<bool> find(const uint8_t* digest, const candidate_check& fits);

private:
  struct entry {
    uint64_t word = 0;  ///< First eight bytes of the digest.
    uint64_t place = 0; ///< Size, then offset in the low 40 bits.

    friend bool operator<(const entry& x, const entry& y) noexcept {
      return x.word != y.word ? x.word < y.word : x.place < y.place;
    }

    block_place get() const noexcept;
    bool same_block(const entry& x) const noexcept;
  };

  using run = std::vector<entry>;

  /// A sorted run in the spool, read in pages.
  struct spooled_run {
    uint64_t offset = 0; ///< Offset of the entries that are not in `page` yet.
    uint64_t left = 0;   ///< Entries not yet in `page`.
    run page;
    size_t at = 0; ///< Next entry of `page`.
  };

  /// Order of the heap: the run with the smallest next entry comes out first.
  auto later() const noexcept {
    return [this](size_t x, size_t y) {
      const auto& a = spooled_[x];
      const auto& b = spooled_[y];
      return b.page[b.at] < a.page[a.at];
    };
  }

  result<void> close_run();
  result<void> spill(const run& x);
  result<void> refill(spooled_run& x);
  result<void> merge_one();
  result<void> start_merge();
  result<void> flush_page();
  result<run> read_page(uint64_t offset, size_t entries);
  result<bool> find_spooled(uint64_t word, const candidate_check& fits);

  spool& overflow_;
  size_t entries_max_;
  size_t run_entries_;
  size_t entries_ = 0; ///< Number of entries in `runs_`.
  run open_;
  std::vector<run> runs_;
  size_t last_hit_ = 0; ///< The run in which the last block was found.

  std::vector<spooled_run> spooled_;
  uint64_t spool_size_ = 0;
  bool merging_ = false;
  std::vector<size_t> heap_; ///< Runs with entries left, smallest entry first.
  run out_;                  ///< The merged page that is being filled.
  entry last_merged_;
  uint64_t merged_at_ = 0;       ///< Offset of the first merged page.
  uint64_t merged_ = 0;          ///< Number of entries merged so far.
  std::vector<uint64_t> fences_; ///< First word of every merged page.
};

} // namespace weir::atproto

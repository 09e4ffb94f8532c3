#include "atproto/block_index.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weir::atproto {

namespace {

constexpr int offset_bits = 40;
constexpr uint64_t offset_mask = (uint64_t{1} << offset_bits) - 1;
constexpr size_t page_entries = 256;

static_assert(limits::car_section_bytes_max < (uint64_t{1} << 24));
static_assert(limits::repo_car_bytes_max < offset_mask);

uint64_t to_word(const uint8_t* digest) noexcept {
  uint64_t out = 0;
  std::memcpy(&out, digest, sizeof(out));
  return out;
}

/// Index of the first entry of a sorted run that is not before `word`. Digests
/// are evenly spread, so the search begins where the word is expected.
template <class Run>
size_t lower_bound(const Run& x, uint64_t word) noexcept {
  auto first = static_cast<size_t>((word >> 32) * x.size() >> 32);
  auto last = first;
  const auto before = [&](size_t i) {
    return x[i].word < word;
  };
  if (before(first)) {
    for (size_t step = 8; last < x.size() && before(last); step *= 2) {
      first = last + 1;
      last += step;
    }
    last = std::min(last, x.size());
  } else {
    for (size_t step = 8; first > 0 && !before(first - 1); step *= 2) {
      last = first - 1;
      first = first > step ? first - step : 0;
    }
  }
  const auto at = std::partition_point(
    x.begin() + static_cast<std::ptrdiff_t>(first),
    x.begin() + static_cast<std::ptrdiff_t>(last), [word](const auto& y) {
      return y.word < word;
    });
  return static_cast<size_t>(at - x.begin());
}

} // namespace

block_place block_index::entry::get() const noexcept {
  return {place & offset_mask, static_cast<size_t>(place >> offset_bits)};
}

bool block_index::entry::same_block(const entry& x) const noexcept {
  return word == x.word && place >> offset_bits == x.place >> offset_bits;
}

block_index::block_index(spool& overflow, size_t entries_max,
                         size_t run_entries)
  : overflow_(overflow), entries_max_(entries_max), run_entries_(run_entries) {
  static_assert(sizeof(entry) == limits::walk_index_entry_bytes);
}

result<void> block_index::add(const uint8_t* digest, block_place at) {
  open_.push_back(
    {to_word(digest), uint64_t{at.size} << offset_bits | at.offset});
  return open_.size() < run_entries_ ? result<void>{} : close_run();
}

result<void> block_index::close_run() {
  std::sort(open_.begin(), open_.end());
  const auto same = [](const entry& x, const entry& y) {
    return x.same_block(y);
  };
  open_.erase(std::unique(open_.begin(), open_.end(), same), open_.end());
  if (spooled_.empty()) {
    entries_ += open_.size();
    runs_.push_back(std::exchange(open_, {}));
    if (entries_ <= entries_max_)
      return {};
    for (const auto& x : runs_)
      if (auto spilled = spill(x); !spilled)
        return spilled;
    runs_ = {};
    return {};
  }
  auto spilled = spill(open_);
  open_.clear();
  return spilled;
}

result<void> block_index::spill(const run& x) {
  const bytes_view raw{reinterpret_cast<const uint8_t*>(x.data()),
                       x.size() * sizeof(entry)};
  spooled_.push_back({spool_size_, x.size(), {}, 0});
  spool_size_ += raw.size();
  return overflow_.append(raw);
}

result<block_index::run> block_index::read_page(uint64_t offset,
                                                size_t entries) {
  const auto raw = overflow_.read(offset, entries * sizeof(entry));
  if (!raw)
    return raw.error();
  run out(entries);
  std::memcpy(out.data(), raw->data(), raw->size());
  return out;
}

result<void> block_index::refill(spooled_run& x) {
  const auto size
    = static_cast<size_t>(std::min<uint64_t>(x.left, page_entries));
  auto page = read_page(x.offset, size);
  if (!page)
    return page.error();
  x.page = std::move(*page);
  x.at = 0;
  x.offset += size * sizeof(entry);
  x.left -= size;
  return {};
}

result<void> block_index::start_merge() {
  merging_ = true;
  merged_at_ = spool_size_;
  for (size_t i = 0; i < spooled_.size(); ++i) {
    if (auto filled = refill(spooled_[i]); !filled)
      return filled;
    heap_.push_back(i);
  }
  std::make_heap(heap_.begin(), heap_.end(), later());
  return {};
}

result<void> block_index::flush_page() {
  if (out_.empty())
    return {};
  fences_.push_back(out_.front().word);
  merged_ += out_.size();
  const bytes_view raw{reinterpret_cast<const uint8_t*>(out_.data()),
                       out_.size() * sizeof(entry)};
  auto done = overflow_.append(raw);
  out_.clear();
  return done;
}

result<void> block_index::merge_one() {
  std::pop_heap(heap_.begin(), heap_.end(), later());
  auto& from = spooled_[heap_.back()];
  const auto next = from.page[from.at++];
  const bool first = merged_ == 0 && out_.empty();
  if (first || !last_merged_.same_block(next)) {
    last_merged_ = next;
    out_.push_back(next);
    if (out_.size() == page_entries)
      if (auto flushed = flush_page(); !flushed)
        return flushed;
  }
  if (from.at == from.page.size()) {
    if (from.left == 0) {
      from.page = {};
      heap_.pop_back();
      return {};
    }
    if (auto filled = refill(from); !filled)
      return filled;
  }
  std::push_heap(heap_.begin(), heap_.end(), later());
  return {};
}

result<bool> block_index::prepare(size_t work_max) {
  if (!open_.empty())
    if (auto closed = close_run(); !closed)
      return closed.error();
  if (spooled_.empty())
    return true;
  if (!merging_)
    if (auto started = start_merge(); !started)
      return started.error();
  for (; work_max > 0 && !heap_.empty(); --work_max)
    if (auto merged = merge_one(); !merged)
      return merged.error();
  if (!heap_.empty())
    return false;
  if (auto flushed = flush_page(); !flushed)
    return flushed.error();
  return true;
}

result<bool> block_index::find(const uint8_t* digest,
                               const candidate_check& fits) {
  const auto word = to_word(digest);
  if (!spooled_.empty())
    return find_spooled(word, fits);
  // Neighbours in the tree often lie in the same part of the file.
  for (size_t n = 0; n < runs_.size(); ++n) {
    const auto which = (last_hit_ + n) % runs_.size();
    const auto& x = runs_[which];
    for (auto i = lower_bound(x, word); i < x.size() && x[i].word == word;
         ++i) {
      auto fit = fits(x[i].get());
      if (!fit || *fit) {
        last_hit_ = which;
        return fit;
      }
    }
  }
  return false;
}

result<bool> block_index::find_spooled(uint64_t word,
                                       const candidate_check& fits) {
  // Equal words may begin in the page before the first fence that is not less.
  const auto fence = std::lower_bound(fences_.begin(), fences_.end(), word);
  auto page = static_cast<uint64_t>(fence - fences_.begin());
  page -= page > 0 ? 1 : 0;
  for (; page < fences_.size() && fences_[page] <= word; ++page) {
    const auto first = page * page_entries;
    const auto size = std::min<uint64_t>(page_entries, merged_ - first);
    const auto raw = overflow_.read(merged_at_ + first * sizeof(entry),
                                    static_cast<size_t>(size) * sizeof(entry));
    if (!raw)
      return raw.error();
    for (size_t at = 0; at < raw->size(); at += sizeof(entry)) {
      entry x;
      std::memcpy(&x, raw->data() + at, sizeof(x));
      if (x.word != word)
        continue;
      auto fit = fits(x.get());
      if (!fit || *fit)
        return fit;
    }
  }
  return false;
}

} // namespace weir::atproto

#include "tests/sim/heap_census.hpp"

#include <array>
#include <atomic>

namespace weir::sim::heap {

namespace {

using counters = std::array<std::atomic<int64_t>, tags_max>;

// The simulating thread allocates and frees nearly all blocks. Only it writes
// its counters, so they need no atomic operation.
counters bytes_of_simulator{};
counters bytes_of_others{};
counters most_of{};
std::atomic<bool> counts{false};
thread_local bool simulates = false;

int64_t load(const std::atomic<int64_t>& x) noexcept {
  return x.load(std::memory_order_relaxed);
}

/// @returns the bytes that all threads have with this tag now
int64_t add(heap_tag tag, int64_t bytes) noexcept {
  auto& others = bytes_of_others[tag];
  auto& own = bytes_of_simulator[tag];
  if (!simulates)
    return others.fetch_add(bytes, std::memory_order_relaxed) + bytes
           + load(own);
  const auto now = load(own) + bytes;
  own.store(now, std::memory_order_relaxed);
  return now + load(others);
}

int64_t bytes_of(heap_tag tag) noexcept {
  return load(bytes_of_simulator[tag]) + load(bytes_of_others[tag]);
}

using registry = std::map<std::string, heap_tag, std::less<>>;

registry& names() {
  static registry all{{"world", tests::heap_of_world},
                      {"threads", tests::heap_of_threads}};
  return all;
}

template <class NumberOf>
census look_at(NumberOf number_of) {
  const heap_scope outside{tests::heap_of_world};
  census out;
  for (const auto& [name, tag] : names())
    if (tag != tests::heap_of_world)
      out[name] = number_of(tag);
  return out;
}

} // namespace

heap_tag tag_of(std::string_view name) {
  auto& all = names();
  const auto i = all.find(name);
  if (i != all.end())
    return i->second;
  const heap_scope outside{tests::heap_of_world};
  const auto next = std::min(all.size(), tags_max - 1);
  return all.emplace(name, static_cast<heap_tag>(next)).first->second;
}

bool is_counted() noexcept {
  return counts.load(std::memory_order_relaxed);
}

census live() {
  return look_at(bytes_of);
}

census peaks() {
  return look_at([](heap_tag tag) { return load(most_of[tag]); });
}

void forget_peaks() noexcept {
  for (heap_tag i = 0; i < tags_max; ++i)
    most_of[i] = bytes_of(i);
}

census difference(const census& later, const census& earlier) {
  auto out = later;
  for (const auto& [name, bytes] : earlier)
    out[name] -= bytes;
  return out;
}

int64_t sum(const census& x) noexcept {
  int64_t out = 0;
  for (const auto& [name, bytes] : x)
    out += bytes;
  return out;
}

std::string describe(const census& x) {
  std::string out;
  for (const auto& [name, bytes] : x)
    if (bytes != 0)
      out += (out.empty() ? "" : ", ") + name + " " + std::to_string(bytes);
  return out;
}

void count_as_simulator() noexcept {
  simulates = true;
}

bool is_simulator() noexcept {
  return simulates;
}

heap_tag gain(size_t bytes) noexcept {
  counts.store(true, std::memory_order_relaxed);
  const auto out = tests::heap_owner;
  const auto now = add(out, static_cast<int64_t>(bytes));
  if (now > load(most_of[out]))
    most_of[out].store(now, std::memory_order_relaxed);
  return out;
}

void lose(heap_tag of, size_t bytes) noexcept {
  add(of, -static_cast<int64_t>(bytes));
}

} // namespace weir::sim::heap

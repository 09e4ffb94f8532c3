#include "tests/sim/heap_census.hpp"

#include <array>
#include <atomic>

namespace weir::sim::heap {

namespace {

std::array<std::atomic<int64_t>, tags_max> bytes_of{};
std::array<std::atomic<int64_t>, tags_max> most_of{};
std::atomic<bool> counts{false};

using registry = std::map<std::string, heap_tag, std::less<>>;

registry& names() {
  static registry all{{"world", tests::heap_of_world},
                      {"threads", tests::heap_of_threads}};
  return all;
}

census look_at(const std::array<std::atomic<int64_t>, tags_max>& numbers) {
  const heap_scope outside{tests::heap_of_world};
  census out;
  for (const auto& [name, number] : names())
    if (number != tests::heap_of_world)
      out[name] = numbers[number].load(std::memory_order_relaxed);
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
  return look_at(most_of);
}

void forget_peaks() noexcept {
  for (size_t i = 0; i < tags_max; ++i)
    most_of[i] = bytes_of[i].load();
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

heap_tag gain(size_t bytes) noexcept {
  counts.store(true, std::memory_order_relaxed);
  const auto out = tests::heap_owner;
  const auto more = static_cast<int64_t>(bytes);
  const auto now = bytes_of[out].fetch_add(more) + more;
  if (now > most_of[out].load(std::memory_order_relaxed))
    most_of[out].store(now, std::memory_order_relaxed);
  return out;
}

void lose(heap_tag of, size_t bytes) noexcept {
  bytes_of[of].fetch_sub(static_cast<int64_t>(bytes),
                         std::memory_order_relaxed);
}

} // namespace weir::sim::heap

#include "tests/fuzz/target.hpp"

#include <cstdio>
#include <cstdlib>

namespace weir::fuzz {

std::vector<target> all_targets() {
  std::vector<target> out;
  for (const auto group : {codec_targets(), tree_targets(), http_targets(), net_targets(),
                           server_targets(), storage_targets(), wire_targets()})
    out.insert(out.end(), group.begin(), group.end());
  return out;
}

void require(bool holds, const char* promise) {
  if (holds)
    return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

uint8_t decisions::next() noexcept {
  const auto x = take(1);
  return x.empty() ? 0 : x.front();
}

bytes_view decisions::take(size_t n) noexcept {
  const auto out = rest_.first(std::min(n, rest_.size()));
  rest_ = rest_.subspan(out.size());
  return out;
}

} // namespace weir::fuzz

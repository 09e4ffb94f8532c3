#include "base/nearest.hpp"

#include "base/joined.hpp"

#include <algorithm>

namespace weir {

namespace {

std::string normal(std::string_view x) {
  constexpr size_t length_max = 64;
  std::string out{x.substr(0, length_max)};
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
    if (c == '-')
      c = '_';
  }
  return out;
}

} // namespace

size_t edit_distance(std::string_view x, std::string_view y) {
  // Keeps three rows of the usual table. The oldest is needed for swaps.
  std::vector<size_t> older(y.size() + 1);
  std::vector<size_t> old(y.size() + 1);
  std::vector<size_t> now(y.size() + 1);
  for (size_t j = 0; j <= y.size(); ++j)
    now[j] = j;
  for (size_t i = 1; i <= x.size(); ++i) {
    std::swap(older, old);
    std::swap(old, now);
    now[0] = i;
    for (size_t j = 1; j <= y.size(); ++j) {
      const size_t change = x[i - 1] == y[j - 1] ? 0 : 1;
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, old[j - 1] + change});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
        now[j] = std::min(now[j], older[j - 2] + 1);
    }
  }
  return now[y.size()];
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  const auto wanted = normal(word);
  std::optional<std::string> out;
  auto least = std::max<size_t>(2, wanted.size() / 3) + 1;
  for (const auto& x : candidates) {
    const auto distance = edit_distance(wanted, normal(x));
    if (distance < least) {
      least = distance;
      out = x;
    }
  }
  return out;
}

std::string suggestion(std::string_view word,
                       const std::vector<std::string>& candidates) {
  const auto found = nearest(word, candidates);
  return found ? "; did you mean \"" + *found + "\"?" : std::string{};
}

std::string nearest_or_all(std::string_view word,
                           const std::vector<std::string>& candidates) {
  if (auto near = suggestion(word, candidates); !near.empty())
    return near;
  return "; it takes " + (candidates.empty() ? "none" : joined(candidates));
}

} // namespace weir

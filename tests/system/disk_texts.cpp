#include "tests/system/disk_texts.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace weir::tests {

namespace {

/// LevelDB's compression may replace four bytes that occurred within the last
/// 64 KiB of a table. That may happen at the ends of a text, also together with
/// the equal bytes around all texts.
constexpr size_t ends = 4;

} // namespace

std::string unlikely_text(uint64_t seed) {
  constexpr std::string_view letters
    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const auto random = seeded_random(seed);
  std::string out;
  while (out.size() < 24 + 2 * ends)
    out += letters[random->below(letters.size())];
  return out;
}

size_t texts_on_disk(const std::string& dir,
                     const std::vector<std::string>& texts) {
  std::vector<bool> found(texts.size());
  // Files may be created and removed during the loop.
  std::error_code ignored;
  for (const auto& x :
       std::filesystem::recursive_directory_iterator{dir, ignored}) {
    if (!x.is_regular_file(ignored))
      continue; // The directory of a partition.
    std::ifstream file{x.path(), std::ios::binary};
    const std::string all{std::istreambuf_iterator<char>{file}, {}};
    for (size_t i = 0; i < texts.size(); ++i)
      found[i] = found[i]
                 || all.find(texts[i].substr(ends, texts[i].size() - 2 * ends))
                      != std::string::npos;
  }
  return static_cast<size_t>(std::ranges::count(found, true));
}

} // namespace weir::tests

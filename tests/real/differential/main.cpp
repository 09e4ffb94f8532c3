#include "tests/real/differential/cases.hpp"

#include <boost/json.hpp>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <span>

// Writes cases to stdout, each as two strings with their length in front (32
// bits, little endian): JSON, then bytes. Equal arguments give equal cases.
//
//   differential SEED FIRST COUNT   random cases FIRST ... FIRST + COUNT - 1
//   differential pinned             the cases that pin known differences

namespace weir::differential {

namespace {

bool write(std::string_view x) {
  const auto size = static_cast<uint32_t>(x.size());
  const uint8_t head[]
    = {static_cast<uint8_t>(size), static_cast<uint8_t>(size >> 8),
       static_cast<uint8_t>(size >> 16), static_cast<uint8_t>(size >> 24)};
  return std::fwrite(head, 1, sizeof head, stdout) == sizeof head
         && std::fwrite(x.data(), 1, x.size(), stdout) == x.size();
}

bool write(test_case x, uint64_t number) {
  const boost::json::object about{
    {"number", number},
    {"kind", x.kind},
    {"what", x.what},
    {"pins", x.pins},
    {"given", std::move(x.given)},
    {"ours", std::move(x.ours)},
  };
  return write(boost::json::serialize(about)) && write(as_text(x.payload));
}

/// Four records, three repositories and three commits of ten.
test_case random_case(random_source& random) {
  const auto draw = random.below(10);
  return draw < 4   ? random_record(random)
         : draw < 7 ? random_repo(random)
                    : random_commit(random);
}

bool write_random(uint64_t seed, uint64_t first, uint64_t count) {
  // Each case has a seed of its own, so that it can be made alone.
  for (uint64_t i = first; i < first + count; ++i) {
    const auto random = seeded_random((seed << 32) + i);
    if (!write(random_case(*random), i))
      return false;
  }
  return true;
}

bool write_pinned() {
  uint64_t number = 0;
  for (auto make : {pinned_records, pinned_repos, pinned_commits})
    for (auto& x : make())
      if (!write(std::move(x), number++))
        return false;
  return true;
}

bool parse(const char* text, uint64_t& out) {
  const auto* end = text + std::strlen(text);
  const auto [at, failed] = std::from_chars(text, end, out);
  return failed == std::errc{} && at == end;
}

int run(std::span<char*> args) {
  uint64_t numbers[3] = {};
  bool written = false;
  if (args.size() == 1 && std::string_view{args[0]} == "pinned") {
    written = write_pinned();
  } else if (args.size() == 3 && parse(args[0], numbers[0])
             && parse(args[1], numbers[1]) && parse(args[2], numbers[2])) {
    written = write_random(numbers[0], numbers[1], numbers[2]);
  } else {
    std::fputs("usage: differential SEED FIRST COUNT | pinned\n", stderr);
    return 2;
  }
  return written && std::fflush(stdout) == 0 ? 0 : 1;
}

} // namespace

} // namespace weir::differential

int main(int argc, char** argv) {
  return weir::differential::run({argv + 1, static_cast<size_t>(argc - 1)});
}

#pragma once

#include "actors/repo/limits.hpp"
#include "storage/tables/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace weir::tests {

/// A repo that is being fetched while the account continues to write.
class buffering : public repo_world {
public:
  /// Number of commits that are kept in memory; with one more all of them go to
  /// disk.
  static constexpr auto commits_max = limits::repo_waiting_commits_max;

  buffering() {
    add_known();
    start_fetch(7);
    answer = root();
    clear();
  }

  std::vector<uint64_t> write_commits(size_t count) {
    std::vector<uint64_t> out;
    for (size_t i = 0; i < count; ++i)
      out.push_back(take(make_commit()));
    return out;
  }

  /// Delivers the host's answer: the repo as it was when the fetch began.
  void answered() { fetched(7, *answer); }

  /// A signed commit frame of exactly `size` bytes, next in the chain.
  bytes frame_of(size_t size) {
    sized(1); // Later writes are updates.
    const auto made = sized(2 * size - 2'000 - sized(size - 2'000).size());
    EXPECT_EQ(made.size(), size);
    return made;
  }

  /// Serves pages of the buffer on disk until no page is requested.
  void serve_pages(size_t page_max = limits::repo_coalesced_commits_max) {
    while (reads > pages || in_flight) {
      if (reads == pages) {
        write();
        continue;
      }
      const auto left
        = std::distance(buffer.upper_bound(page_after), buffer.end());
      page(page_max, static_cast<size_t>(left) < page_max);
    }
  }

  std::optional<atproto::verified_root> answer;

private:
  bytes sized(size_t text) {
    account.put("app.test.note/sized", make_record(std::string(text, 'x')));
    return account.commit();
  }
};

} // namespace weir::tests

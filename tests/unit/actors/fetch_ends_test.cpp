#include "actors/supervisor/supervisor_metrics.hpp"
#include "actors/supervisor/limits.hpp"

#include "base/log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir::actors {
namespace {

size_t count_of(const std::string& text, const std::string& in) {
  size_t out = 0;
  for (auto i = in.find(text); i != std::string::npos; i = in.find(text, i + 1))
    ++out;
  return out;
}

// limits::fetch_lines_max, limits::fetch_lines_interval
TEST(FetchEndsTest, AllAreCountedAndSomeAreNamed) {
  metrics_registry all;
  fetch_ends x{all};
  const auto repo = atproto::did::trusted("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa");
  const auto failed = fail(ec::unreachable, "nobody answers");
  const auto away = fail(ec::account_inactive, "deactivated");
  constexpr steady_time begin{7};
  log::configure(log::level::info, log::format::text);
  testing::internal::CaptureStderr();
  x.note({repo, 1, away}, begin);
  x.note_no_host(repo, failed, begin);
  for (uint64_t i = 0; i < limits::fetch_lines_max; ++i)
    x.note({repo, 1, failed}, begin);
  x.note({repo, 1, failed}, begin + limits::fetch_lines_interval);
  const auto lines = testing::internal::GetCapturedStderr();
  log::configure(log::level::off, log::format::text);
  EXPECT_EQ(count_of("account_away did=" + repo.str() + " reason=deactivated",
                     lines),
            1u);
  EXPECT_EQ(count_of("backfill_failed did=", lines), limits::fetch_lines_max)
    << "one more than in the first interval, and one that was away";
  EXPECT_EQ(count_of("fetches_unnamed", lines), 1u) << lines;
  const auto text = all.render();
  EXPECT_NE(text.find("{result=\"failed\"} "
                      + std::to_string(limits::fetch_lines_max + 1)),
            std::string::npos)
    << text;
}

} // namespace
} // namespace weir::actors

#include "apps/weir/limits.hpp"
#include "apps/weir/process_limits.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <sys/resource.h>
#include <system_error>
#include <thread>

namespace weir::apps {
namespace {

// A limit with which a node cannot work is refused with the remedy.
TEST(ProcessLimitsTest, TooFewDescriptorsAreRefusedWithTheRemedy) {
  EXPECT_TRUE(check_descriptors(limits::descriptors_min));
  const auto few = check_descriptors(limits::descriptors_min - 1);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code, ec::invalid_argument);
  EXPECT_NE(few.error().context.find("may open 255 files and sockets, and a node "
                                     "needs at least 256: raise ulimit -n"),
            std::string::npos);
}

TEST(ProcessLimitsTest, AsManyDescriptorsAsAllowedAreTaken) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit lowered = before;
  lowered.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
  EXPECT_EQ(raise_descriptor_limit(), before.rlim_max);
  rlimit now{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

/// Runs it in another process.
template <class What>
void end_by(What what) {
  explain_aborts();
  std::thread{[&] {
    throw what;
  }}.join();
}

TEST(ProcessLimitsDeathTest, TheLastWordsNameTheCauseAndTheRemedy) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::system_error no_thread{
    std::make_error_code(std::errc::resource_unavailable_try_again)};
  EXPECT_DEATH(end_by(no_thread), "weir: ends: .* no further thread: raise "
                                  "ulimit -u and -v, or TasksMax");
  EXPECT_DEATH(end_by(std::bad_alloc{}), "weir: ends: .* no more memory: raise "
                                         "ulimit -v, or MemoryMax");
  EXPECT_DEATH(end_by(std::runtime_error{"a wheel came off"}),
               "weir: ends: a wheel came off");
  EXPECT_DEATH(end_by(7), "weir: ends: an error occurred that nothing handles");
}

} // namespace
} // namespace weir::apps

#include "apps/weir/limits.hpp"
#include "apps/weir/service_notify.hpp"
#include "tests/support/manager_socket.hpp"
#include "tests/support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <unistd.h>

// The messages to a service manager, at a socket of the kind that it opens.
namespace weir::apps {

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

using tests::manager_socket;

/// The messages that have come.
std::string taken(const manager_socket& from) {
  return from.take(std::chrono::milliseconds{0});
}

std::string abstract_name() {
  return "@weir-service-notify-test-" + std::to_string(getpid());
}

/// The log during this.
template <class Act>
std::string log_of(const Act& act) {
  testing::internal::CaptureStderr();
  act();
  return testing::internal::GetCapturedStderr();
}

} // namespace

TEST(ServiceNotifyTest, EachMomentIsOneMessage) {
  const tests::temp_dir dir;
  const manager_socket manager{dir.at("notify")};
  service_notify x{manager.name().c_str()};
  x.status("opens the store");
  EXPECT_EQ(taken(manager), "STATUS=opens the store");
  x.ready("answers");
  EXPECT_EQ(taken(manager), "READY=1\nSTATUS=answers");
  x.reloading();
  EXPECT_THAT(taken(manager),
              MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
  x.reloaded();
  EXPECT_EQ(taken(manager), "READY=1");
  x.stopping("a signal");
  EXPECT_EQ(taken(manager), "STOPPING=1\nSTATUS=a signal");
  EXPECT_EQ(taken(manager), "");
}

TEST(ServiceNotifyTest, AnAbstractSocketIsReached) {
  const manager_socket manager{abstract_name()};
  service_notify{manager.name().c_str()}.ready("answers");
  EXPECT_EQ(taken(manager), "READY=1\nSTATUS=answers");
}

// The end of a reload looks like the end of the start.
TEST(ServiceNotifyTest, AReloadDuringTheStartDoesNotMakeItReady) {
  const manager_socket manager{abstract_name()};
  service_notify x{manager.name().c_str()};
  x.reloading();
  x.reloaded();
  EXPECT_EQ(taken(manager), "");
}

TEST(ServiceNotifyTest, ATextIsOneLineOfTheMessage) {
  const manager_socket manager{abstract_name()};
  service_notify{manager.name().c_str()}.status("no\nREADY=1");
  EXPECT_EQ(taken(manager), "STATUS=no\\u000aREADY=1");
}

TEST(ServiceNotifyTest, WithoutASocketNothingIsSaid) {
  for (const char* none : {static_cast<const char*>(nullptr), ""})
    EXPECT_THAT(log_of([none] {
                  service_notify x{none};
                  x.ready("answers");
                  x.stopping("a signal");
                }),
                IsEmpty());
}

TEST(ServiceNotifyTest, ASocketThatCannotBeReachedIsALineInTheLog) {
  const tests::temp_dir dir;
  for (const auto& bad : {dir.at("absent"), "/" + std::string(107, 'x'),
                          std::string{"vsock:2:1"}, std::string{"name"}})
    EXPECT_THAT(log_of([&bad] {
                  service_notify{bad.c_str()}.ready("answers");
                }),
                HasSubstr("service_manager_unreachable"))
      << bad;
}

// limits::service_message_wait: a manager that does not read causes no longer
// delay, whatever the state of its queue.
TEST(ServiceNotifyTest, AManagerThatDoesNotReadIsNotWaitedForLong) {
  const manager_socket manager{abstract_name()};
  service_notify x{manager.name().c_str()};
  const auto start = std::chrono::steady_clock::now();
  std::string said;
  // Linux lets some hundred wait at most (net.unix.max_dgram_qlen).
  for (size_t i = 0; i < 10'000 && said.empty(); ++i)
    said = log_of([&x] {
      x.status("busy");
    });
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_THAT(said, HasSubstr("service_manager_unreachable"));
  EXPECT_GE(took, limits::service_message_wait);
  EXPECT_LT(took, 10 * limits::service_message_wait);
  EXPECT_EQ(taken(manager), "STATUS=busy");
  EXPECT_THAT(log_of([&x] {
                x.status("busy");
              }),
              IsEmpty());
}

} // namespace weir::apps

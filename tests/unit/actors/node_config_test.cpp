#include "actors/node/limits.hpp"
#include "actors/node/memory_plan.hpp"
#include "actors/node/node_config.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_scans.hpp"
#include "actors/support/limits.hpp"
#include "base/limits.hpp"
#include "base/option_range.hpp"

#include <gtest/gtest.h>

namespace weir::actors {

namespace {

bool has_problem(const node_config& x, std::string_view with) {
  for (const auto& each : x.problems())
    if (each.find(with) != std::string::npos)
      return true;
  return false;
}

template <class T>
void expect_range(T node_config::*member, const limits::option_range<T>& range,
                  std::string_view name, T step = T{1}) {
  node_config x;
  EXPECT_FALSE(has_problem(x, std::string{name} + ": ")) << name;
  // Large windows need much memory.
  if (name != "memory_limit")
    x.memory_limit = limits::memory_limit_range.max;
  // When the lower limit is 0, no smaller value can be tried.
  x.*member = range.min;
  EXPECT_FALSE(has_problem(x, std::string{name} + ": ")) << name;
  x.*member = range.max;
  EXPECT_FALSE(has_problem(x, std::string{name} + ": ")) << name;
  x.*member = range.max + step;
  EXPECT_TRUE(has_problem(x, std::string{name} + ": ")) << name;
  if (range.min > T{}) {
    x.*member = range.min - step;
    EXPECT_TRUE(has_problem(x, std::string{name} + ": ")) << name;
  }
}

} // namespace

TEST(NodeConfigTest, TheDefaultsAreGood) {
  EXPECT_EQ(node_config{}.problems(), std::vector<std::string>{});
}

// hostile-inputs.md 2.2.3: {loopback, beyond} x {no password, too short, long
// enough} x {data port, operations port}.
TEST(NodeConfigTest, BindingBeyondLoopbackNeedsAPassword) {
  const std::string shorter(limits::admin_password_bytes_range.min - 1, 'x');
  const std::string enough(limits::admin_password_bytes_range.min, 'x');
  struct row {
    const char* at;
    bool loopback;
  };
  for (const auto& [at, loopback] :
       {row{"127.0.0.1:2480", true}, row{"127.9.9.9:0", true},
        row{"[::1]:2480", true}, row{"0.0.0.0:2480", false},
        row{"[::]:2480", false}, row{"192.168.1.5:2480", false},
        row{"10.0.0.1:0", false}, row{"[fe80::1]:80", false}})
    for (auto member : {&node_config::bind, &node_config::operations_bind})
      for (const auto& password : {std::string{}, shorter, enough}) {
        node_config x;
        x.bind = "127.0.0.1:1";
        x.operations_bind = "127.0.0.1:2";
        x.*member = at;
        x.admin_password = password;
        EXPECT_EQ(x.problems().empty(),
                  password == enough || (password.empty() && loopback))
          << at << " with " << password.size() << " bytes";
      }
}

TEST(NodeConfigTest, AnAddressMustBeOne) {
  for (const auto* at : {"", "2480", "127.0.0.1", "localhost:2480",
                         "127.0.0.1:65536", "::1:2480", "127.1:80"}) {
    node_config x;
    x.bind = at;
    EXPECT_TRUE(has_problem(x, "bind: ")) << at;
  }
}

TEST(NodeConfigTest, BothFacesCannotShareAPort) {
  node_config x;
  x.bind = x.operations_bind = "127.0.0.1:2480";
  EXPECT_TRUE(has_problem(x, "operations_bind: "));
  x.bind = x.operations_bind = "127.0.0.1:0";
  EXPECT_TRUE(x.problems().empty());
}

TEST(NodeConfigTest, RangesTakeTheirLimitsAndNothingBeyond) {
  using namespace limits;
  using config = node_config;
  expect_range(&config::pds_events_per_second, pds_events_per_second_range,
               "pds_events_per_second");
  expect_range(&config::sync_parallelism, sync_parallelism_range,
               "sync_parallelism");
  expect_range(&config::sync_per_host, sync_per_host_range, "sync_per_host");
  expect_range(&config::retry_backoff_max, retry_backoff_range,
               "retry_backoff_max");
  expect_range(&config::identity_refresh_min, identity_refresh_range,
               "identity_refresh_min");
  expect_range(&config::listing_interval, listing_interval_range,
               "listing_interval");
  expect_range(&config::listing_pause, listing_pause_range, "listing_pause");
  expect_range(&config::completeness_interval, completeness_interval_range,
               "completeness_interval");
  expect_range(&config::listing_requests_per_hour, listing_requests_range,
               "listing_requests_per_hour");
  expect_range(&config::listing_grace, listing_grace_range, "listing_grace");
  expect_range(&config::gone_grace, gone_grace_range, "gone_grace");
  expect_range(&config::repo_bytes_max, repo_bytes_range, "repo_bytes_max");
  expect_range(&config::memory_limit, memory_limit_range, "memory_limit");
  expect_range(&config::disk_reserve, disk_reserve_range, "disk_reserve");
  expect_range(&config::log_retention, log_retention_range, "log_retention");
  expect_range(&config::consumer_retry, consumer_retry_range, "consumer_retry");
  expect_range(&config::consumer_window_events, consumer_window_events_range,
               "consumer_window_events");
  expect_range(&config::consumer_window_bytes, consumer_window_bytes_range,
               "consumer_window_bytes");
  expect_range(&config::consumer_attempts_max, consumer_attempts_range,
               "consumer_attempts_max");
  expect_range(&config::threads, threads_range, "threads");
  expect_range(&config::readers, readers_range, "readers");
  expect_range(&config::partitions, partitions_range, "partitions");
  expect_range(&config::plc_per_second, plc_per_second_range, "plc_per_second",
               0.01);
}

TEST(NodeConfigTest, BackOffDoesNotEndBeforeItBegins) {
  node_config x;
  x.retry_backoff_min = std::chrono::seconds{61};
  x.retry_backoff_max = std::chrono::seconds{60};
  EXPECT_TRUE(has_problem(x, "retry_backoff_min: "));
  x.retry_backoff_min = x.retry_backoff_max;
  EXPECT_TRUE(x.problems().empty());
}

TEST(NodeConfigTest, EachPartitionNeedsMemoryAndAnEvent) {
  node_config x;
  x.partitions = 4;
  x.memory_limit = 4 * limits::partition_memory_min;
  x.sync_parallelism = 1;
  x.consumer_window_events = 4;
  EXPECT_FALSE(has_problem(x, "partitions: "));
  EXPECT_FALSE(has_problem(x, "consumer_window_events: "));
  x.partitions = 5;
  EXPECT_TRUE(has_problem(x, "partitions: "));
  EXPECT_TRUE(has_problem(x, "consumer_window_events: "));
}

TEST(NodeConfigTest, PrivateAddressesNeedPermission) {
  node_config x;
  x.upstreams = {{"http://127.0.0.1:2503", true}};
  x.plc_url = "http://localhost:2504";
  x.handle_resolver_url = "http://localhost:2504";
  EXPECT_EQ(x.problems().size(), 3u);
  x.allow_private_addresses = true;
  EXPECT_TRUE(x.problems().empty());
}

TEST(NodeConfigTest, UpstreamsAreDistinctOrigins) {
  node_config x;
  x.upstreams
    = {{"https://a.example.com", true}, {"https://A.example.com:443/", false}};
  EXPECT_TRUE(has_problem(x, "is there twice"));
  x.upstreams = {{"https://a.example.com/xrpc", true}};
  EXPECT_TRUE(has_problem(x, "upstream: "));
  x.upstreams = {{"wss://a.example.com", true}};
  EXPECT_TRUE(has_problem(x, "upstream: "));
  x.upstreams = {{"no url", true}};
  EXPECT_TRUE(has_problem(x, "upstream: "));
}

// The parts after the origin would be dropped somewhere.
TEST(NodeConfigTest, ServersAreNamedByTheirOriginAlone) {
  for (const auto* more : {"/xrpc", "/?x", "?x", "#x", "/export", "?"}) {
    node_config x;
    const auto url = std::string{"https://a.example.com"} + more;
    const auto words = "must end with the host or port: https://a.example.com; "
                       "leave out \""
                       + std::string{more} + "\"";
    x.upstreams = {{url, true}};
    EXPECT_TRUE(has_problem(x, words)) << url;
    x.upstreams = {};
    x.plc_url = url;
    EXPECT_TRUE(has_problem(x, words)) << url;
    x.plc_url = "https://a.example.com/";
    EXPECT_TRUE(x.problems().empty());
    x.handle_resolver_url = url;
    EXPECT_TRUE(has_problem(x, words)) << url;
  }
}

TEST(NodeConfigTest, OnlyAPrivateHostIsALeaveOfPrivateAddresses) {
  constexpr auto leave = "(allow_private_addresses permits it)";
  node_config x;
  for (const auto* host : {"localhost", "10.0.0.1", "[::1]", "relay.test"}) {
    x.plc_url = std::string{"https://"} + host;
    EXPECT_TRUE(has_problem(x, leave)) << host;
  }
  const auto long_label = std::string(64, 'a') + ".network";
  for (const auto& host : {std::string{"bsky..network"}, std::string{"-x.y"},
                           std::string{"bsky_x.network"}, std::string{"1.2.3"},
                           long_label}) {
    x.plc_url = "https://" + host;
    EXPECT_TRUE(has_problem(x, "is not a host name")) << host;
    EXPECT_FALSE(has_problem(x, leave)) << host;
  }
  x.plc_url = "https://" + long_label.substr(1);
  EXPECT_TRUE(x.problems().empty());
  x.plc_url = "https://b\xc3\xbc"
              "cher.example.com";
  EXPECT_TRUE(has_problem(x, "a letter that is not ASCII"));
}

TEST(NodeConfigTest, UpstreamsAreCountedToTheirLimit) {
  node_config x;
  x.memory_limit = limits::memory_limit_range.max;
  for (size_t i = 0; i < limits::upstreams_max; ++i)
    x.upstreams.push_back(
      {"https://h" + std::to_string(i) + ".example.com", false});
  EXPECT_TRUE(x.problems().empty());
  x.upstreams.push_back({"https://more.example.com", false});
  EXPECT_TRUE(has_problem(x, "upstream: more than 1024"));
}

// SYNC-17 to 19: a mode has the options that it needs.
TEST(NodeConfigTest, AModeThatDiscoversNeedsSomethingToLookAt) {
  node_config x;
  x.mode = tracking_mode::full_network;
  EXPECT_TRUE(has_problem(x, "upstream: "));
  x.upstreams = {{"https://relay.example.com", true}};
  EXPECT_TRUE(x.problems().empty());
  x.mode = tracking_mode::signal;
  EXPECT_TRUE(has_problem(x, "signal_collection: "));
  x.signal_collections = {"fm.teal.alpha.feed.play"};
  EXPECT_TRUE(x.problems().empty());
  x.mode = tracking_mode::full_network;
  EXPECT_TRUE(has_problem(x, "signal_collection: only mode signal reads it"));
}

TEST(NodeConfigTest, CollectionsArePatternsAndSignalsAreNames) {
  node_config x;
  x.collections = {"app.bsky.feed.*", "fm.teal.alpha.feed.play"};
  EXPECT_TRUE(x.problems().empty());
  x.collections = {"app.*.feed"};
  EXPECT_TRUE(has_problem(x, "collections: "));
  x.collections = {};
  x.mode = tracking_mode::signal;
  x.signal_collections = {"app.bsky.*"};
  EXPECT_TRUE(has_problem(x, "signal_collection: \"app.bsky.*\" is not"));
}

TEST(NodeConfigTest, HostNamesCarryNoSchemeAndNoPort) {
  node_config x;
  x.allowed_hosts = {"weir.example.com"};
  EXPECT_TRUE(x.problems().empty());
  for (const auto* name : {"", "https://a", "a:80", "a b", "u@a"}) {
    x.allowed_hosts = {name};
    EXPECT_TRUE(has_problem(x, "allowed_hosts: ")) << name;
  }
}

} // namespace weir::actors

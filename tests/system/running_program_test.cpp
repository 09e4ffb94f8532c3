#include "apps/demo/evidence.hpp"
#include "apps/weir/web_client.hpp"
#include "tests/support/private_file.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>

// What an operator sees of a running node and changes while it runs.
namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// The address with this name in the ready line.
std::string address_in(const std::string& line, std::string_view name) {
  const auto key = "\"" + std::string{name} + "\":\"";
  const auto begin = line.find(key) + key.size();
  return line.substr(begin, line.find('"', begin) - begin);
}

/// Whether these texts are in the log in this order.
testing::AssertionResult in_order(const std::string& log,
                                  const std::vector<std::string>& all) {
  size_t at = 0;
  for (const auto& x : all) {
    at = log.find(x, at);
    if (at == std::string::npos)
      return testing::AssertionFailure() << x << " is not in\n" << log;
  }
  return testing::AssertionSuccess();
}

/// The complete log of a node that fetches all 120 accounts and is stopped.
std::string log_of_a_backfill(followed_network& network, const std::string& data,
                              const std::vector<std::string>& more = {}) {
  auto arguments = network.arguments(data, {"--log-format", "json"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  program node{arguments};
  EXPECT_TRUE(node.read_line(node_patience)) << node.errors();
  EXPECT_TRUE(eventually(60s * slowness, [&] {
    return node.errors().find(R"("event":"backfill_done","synced":"120")")
           != std::string::npos;
  })) << node.errors();
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << node.errors();
  return node.errors();
}

} // namespace

// A start, a stream, a stop: the log must make it possible to understand a day
// later.
TEST(LogStoryTest, ALifeIsToldAtLevelInfo) {
  const temp_dir dir;
  followed_network network{1, 120, 400};
  const auto log = log_of_a_backfill(network, dir.at("data"));
  EXPECT_TRUE(in_order(log, {R"("event":"started","version":)",
                             R"("data":"http://127.0.0.1:)",
                             R"("operations":"http://127.0.0.1:)",
                             R"("data_dir":")" + dir.at("data"),
                             R"("store_bytes":")",
                             R"("mode":"full-network","upstreams":"http://)",
                             R"("event":"upstream_connected","upstream":)",
                             R"("event":"backfill_begun","repos":")",
                             R"("event":"backfill_done","synced":"120")",
                             R"("event":"stopping","reason":"a signal")",
                             R"("event":"stopped")"}));
}

// With other collections everything is fetched again, although nothing was out
// of sync.
TEST(LogStoryTest, ThatAllIsFetchedUnderOtherCollectionsIsTold) {
  const temp_dir dir;
  followed_network network{4, 120, 400};
  const auto data = dir.at("data");
  EXPECT_EQ(log_of_a_backfill(network, data).find("collections_changed"),
            std::string::npos);
  EXPECT_TRUE(in_order(log_of_a_backfill(network, data, {"--collections",
                                                         "app.bsky.feed.like"}),
                       {R"("event":"collections_changed","repos":"120")",
                        R"("event":"backfill_begun")",
                        R"("event":"backfill_done","synced":"120")"}));
}

// It must not continue when nobody can ever read what it writes.
TEST(LogStoryTest, ADirectoryThatIsTakenAwayEndsTheNode) {
  const temp_dir dir;
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0",
                "--log-format", "json"}};
  ASSERT_TRUE(node.read_line(node_patience)) << node.errors();
  std::filesystem::rename(dir.at("data"), dir.at("elsewhere"));
  std::filesystem::create_directory(dir.at("data"));
  const auto status = node.wait(node_patience);
  ASSERT_TRUE(status) << node.errors();
  EXPECT_NE(*status, 0);
  EXPECT_TRUE(in_order(node.errors(),
                       {R"("event":"node_failed")",
                        dir.at("data") + " was removed, or another directory"}));
}

// A user who started it in the wrong place sees an empty store there.
TEST(LogStoryTest, AStartSaysWhereItsStoreIsAndWhetherItIsNew) {
  const temp_dir dir;
  const auto data = std::filesystem::relative(dir.at("data")).string();
  ASSERT_FALSE(data.starts_with('/'));
  for (const std::string store : {"new", "kept"}) {
    program node{{"run", "--data-dir", data, "--bind", "127.0.0.1:0",
                  "--log-format", "json"}};
    ASSERT_TRUE(node.read_line(node_patience)) << node.errors();
    node.send(SIGTERM);
    ASSERT_EQ(node.wait(node_patience), 0) << node.errors();
    EXPECT_TRUE(in_order(node.errors(),
                         {R"("event":"started","version":)",
                          R"("data_dir":")" + dir.at("data") + "\"",
                          R"("store":")" + store + "\""}));
  }
}

// The defaults, as in a first trial. The promise is two seconds on a quiet
// machine. Ten times that detects a node that waits for something, such as 20
// look-ups a second, with which it takes 14.
TEST(FirstRunTest, ThreeHundredReposAreThereAtOnce) {
  const temp_dir dir;
  followed_network network{3, 300, 3'000};
  const auto begin = std::chrono::steady_clock::now();
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0",
                "--operations-bind", "127.0.0.1:0", "--upstream",
                "relay:" + network.urls().relay, "--plc-url",
                network.urls().plc, "--mode", "full-network",
                "--allow-private-addresses", "--log-format", "json"}};
  const auto at = parse_ready(node.read_line(node_patience).value_or(""));
  const auto web = apps::web_client::make();
  EXPECT_TRUE(eventually(10s * slowness, [&] {
    return status_of(*web, at).synced == 300;
  })) << node.errors();
  std::cout << "300 repos in "
            << (std::chrono::steady_clock::now() - begin) / 1ms << " ms\n";
  const auto shown = [&](const std::string& url) {
    const auto x = web->get(at.operations + url);
    return x ? std::string{as_text(x->body)} : std::string{};
  };
  EXPECT_TRUE(in_order(shown("/status"), {R"("log_epoch":")", R"("outbox":)",
                                          R"("outbox_seconds":)",
                                          R"("store":{"bytes":{"log":)",
                                          R"("growth_per_day":)"}));
  const auto metrics = shown("/metrics");
  for (const auto* name :
       {"weir_store_bytes{family=\"log\"}", "weir_store_growth_bytes_per_day",
        "weir_consumer_backlog_events", "weir_consumer_backlog_seconds",
        "weir_consumer_foreign_acks_total", "weir_deadletters"})
    EXPECT_NE(metrics.find(name), std::string::npos) << name;
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.errors().find(R"("event":"backfill_done")")
           != std::string::npos;
  })) << node.errors();
  EXPECT_TRUE(in_order(node.errors(), {R"("event":"backfill_begun","repos":")",
                                       R"("event":"backfill_done","synced":"300")"}));
  EXPECT_EQ(node.errors().find(R"("seconds":"0")"), std::string::npos);
  EXPECT_EQ(node.errors().find(R"("seconds":"0.00")"), std::string::npos);
  network.life().stop();
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.errors().find(R"("event":"upstream_closed","upstream":")"
                              + network.urls().relay + R"(","reason":")")
           != std::string::npos;
  })) << node.errors();
}

// A user who starts it without anything must learn what to do next.
TEST(LogStoryTest, AnEmptyNodeSaysWhatToDoNext) {
  const temp_dir dir;
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0",
                "--upstream", "relay:http://127.0.0.1:9",
                "--allow-private-addresses", "--log-format", "text"}};
  const auto ready = node.read_line(node_patience).value_or("");
  const auto data = address_in(ready, "data");
  EXPECT_TRUE(eventually(10s * slowness, [&] {
    return node.errors().find("/channel") != std::string::npos;
  }));
  EXPECT_TRUE(in_order(node.errors(),
                       {"curl -X POST " + data + "/repos/add",
                        "WebSocket ws" + data.substr(4) + "/channel"}));
}

TEST(LogStoryTest, TheCommandThatItShowsHasThePassword) {
  const temp_dir dir;
  write_private(dir.at("password"), "correct horse battery\n");
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0",
                "--admin-password-file", dir.at("password"), "--log-format",
                "text"}};
  node.read_line(node_patience);
  EXPECT_TRUE(eventually(10s * slowness, [&] {
    return node.errors().find("/channel") != std::string::npos;
  }));
  EXPECT_NE(node.errors().find("curl -u admin:$(cat " + dir.at("password")
                               + ") -X POST "),
            std::string::npos)
    << node.errors();
}

// An event that was given up must be found again.
TEST(DeadLetterTest, WhatNobodyAcksIsNamedInTheLogAndListed) {
  const temp_dir dir;
  followed_network network{1, 3, 12};
  program node{network.arguments(
    dir.at("data"), {"--log-format", "json", "--consumer-retry", "1s",
                     "--consumer-attempts-max", "2"})};
  const auto ready = node.read_line(node_patience).value_or("");
  const auto web = apps::web_client::make();
  const channel_client silent{web->transport(), address_in(ready, "data"),
                              [](const auto&) {
                                return std::vector<uint64_t>{};
                              }};
  const auto list = [&](const std::string& query) {
    const auto x
      = web->get(address_in(ready, "data") + "/v1/dead-letters" + query);
    return x ? std::string{as_text(x->body)} : std::string{};
  };
  EXPECT_TRUE(eventually(60s * slowness, [&] {
    return list("").find(R"("uri":"at://did:plc:)") != std::string::npos;
  })) << list("") << node.errors();
  EXPECT_NE(list("").find(R"("attempts":2,"reason":"not acknowledged","at":)"),
            std::string::npos)
    << list("");
  EXPECT_TRUE(in_order(node.errors(),
                       {R"("event":"dead_letter","consumer":"channel","id":")",
                        R"("did":"did:plc:)", R"("uri":"at://did:plc:)", R"("attempts":"2")",
                        R"("reason":"not acknowledged")"}));
  const auto metrics = web->get(address_in(ready, "operations") + "/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_GT(apps::metric_total(as_text(metrics->body), "weir_deadletters", ""),
            0u);
  // The next page begins after the last one.
  const auto first = list("?limit=1");
  const auto cursor = address_in(first, "cursor");
  ASSERT_FALSE(cursor.empty()) << first;
  const auto second = list("?limit=1&cursor=" + cursor);
  EXPECT_NE(second, first);
  EXPECT_EQ(list("?cursor=x").find(R"({"error":"InvalidRequest")"), 0u);
}

// Limits and addresses need a restart; settings that operators change often do
// not.
TEST(ReloadRunTest, AHangUpTakesOverLevelAndPasswordAndEndsNothing) {
  const temp_dir dir;
  write_private(dir.at("password"), "correct horse battery\n");
  const auto config = dir.at("weir.toml");
  std::ofstream{config} << "log_level = \"info\"\n";
  program node{{"run", "--config", config, "--data-dir", dir.at("data"), "--bind",
                "127.0.0.1:0", "--admin-password-file", dir.at("password"),
                "--log-format", "json"}};
  const auto ready = node.read_line(node_patience).value_or("");
  const auto url = address_in(ready, "operations") + "/status";
  const auto web = apps::web_client::make();
  const auto status = [&](const std::string& password) {
    web->set_password(password);
    const auto reply = web->get(url);
    return reply ? reply->status : 0;
  };
  const auto hang_up = [&](const std::string& expected) {
    const auto before = node.errors().size();
    node.send(SIGHUP);
    EXPECT_TRUE(eventually(10s * slowness, [&] {
      return node.errors().find(expected, before) != std::string::npos;
    })) << expected << " is not in " << node.errors();
  };
  hang_up(R"("event":"reloaded","log":"as before","password":"as before")");
  EXPECT_EQ(status("another long password"), 401);
  write_private(dir.at("password"), "another long password\n");
  std::ofstream{config} << "log_level = \"debug\"\nplc_per_second = 7\n";
  hang_up(R"("event":"reload_needs_restart","options":"plc_per_second")");
  EXPECT_TRUE(in_order(
    node.errors(), {R"("reloaded","log":"changed","password":"changed")"}));
  EXPECT_EQ(status("another long password"), 200);
  EXPECT_EQ(status("correct horse battery"), 401);
  // From here on the log contains only errors.
  const auto before = node.errors().size();
  write_private(dir.at("password"), "a third long password\n");
  std::ofstream{config} << "log_level = \"error\"\n";
  node.send(SIGHUP);
  EXPECT_TRUE(eventually(10s * slowness, [&] {
    return status("a third long password") == 200;
  })) << node.errors();
  std::ofstream{config} << "log_level = 3\n";
  hang_up(R"("event":"reload_refused","reason":)");
  EXPECT_EQ(node.errors().find(R"("event":"reloaded")", before),
            std::string::npos)
    << node.errors();
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << node.errors();
}

} // namespace weir::tests

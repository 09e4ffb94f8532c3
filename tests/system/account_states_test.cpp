#include "apps/demo/evidence.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/patience.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <mutex>

// Who decides the state of an account, and when its host is asked
// (protocol-coverage.md 4).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using simnet::fault_kind;

/// A node that follows a network, and an application that records the events of
/// one account.
class AccountStatesTest : public testing::Test {
protected:
  ~AccountStatesTest() override { consumer.reset(); }

  void start(std::vector<std::string> more = {},
             std::vector<std::string> environment = {});
  void stop();
  void inject(fault_kind kind, bool silent = false);

  /// The account in the application's copy: its status and its records.
  std::string status();
  size_t records();

  /// Every status that it ever had, in order, each once.
  std::vector<std::string> statuses();

  void expect_status(const std::string& wanted);
  /// A value of `/metrics`: the sum over all labels, or over those that contain
  /// `label`.
  uint64_t metric(const char* name, const std::string& label = {});

  /// Waits until `more` further listings were read to their end.
  void expect_listings(uint64_t more);

  /// From the next start on the relay is not followed any more.
  void leave_relay() { with_relay = false; }

  bool with_relay = true;
  followed_network net{17, 6, 100};
  /// An account of the first host.
  const std::string did = [this] {
    size_t i = 0;
    while (net.life().truth().view(i).host != 0)
      ++i;
    return net.life().truth().view(i).id.str();
  }();
  /// An account other than `did`.
  size_t other() {
    return net.life().truth().view(0).id.str() == did ? 1 : 0;
  }

  const temp_dir dir;
  const std::string data = dir.at("data");
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  std::unique_ptr<program> node;
  node_addresses at;
  std::mutex guard;
  apps::event_copy copy;
  std::vector<std::string> heard;
  std::unique_ptr<channel_client> consumer;
};

void AccountStatesTest::start(std::vector<std::string> more,
                              std::vector<std::string> environment) {
  auto arguments = net.arguments(data, std::move(more));
  const auto relay = std::find(arguments.begin(), arguments.end(),
                               "relay:" + net.urls().relay);
  if (!with_relay)
    arguments.erase(relay - 1, relay + 1);
  node = std::make_unique<program>(std::move(arguments),
                                   std::move(environment));
  at = parse_ready(node->read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node->errors());
  consumer = std::make_unique<channel_client>(
    web->transport(), at.data, [this](const auto& texts) {
      const std::lock_guard lock{guard};
      std::vector<uint64_t> acks;
      for (const auto text : texts) {
        acks.push_back(copy.take(text, {}).value().id);
        const auto known = copy.accounts().find(did);
        if (known != copy.accounts().end()
            && !known->second.status.empty()
            && (heard.empty() || heard.back() != known->second.status))
          heard.push_back(known->second.status);
      }
      return acks;
    });
  EXPECT_TRUE(eventually(node_patience, [this] {
    const auto now = status_of(*web, at);
    return now.repos == net.life().truth().accounts() && now.outbox == 0
           && records() > 0;
  }));
}

void AccountStatesTest::stop() {
  node->send(SIGTERM);
  EXPECT_EQ(node->wait(node_patience), 0);
  consumer.reset();
}

void AccountStatesTest::inject(fault_kind kind, bool silent) {
  simnet::fault x;
  x.kind = kind;
  if (kind == fault_kind::directory_down)
    x.count = 0; // All requests fail until the directory is up again.
  else if (kind != fault_kind::directory_up)
    x.did = did;
  x.silent = silent;
  ASSERT_TRUE(net.life().faults().inject(x)) << to_string(kind);
}

std::string AccountStatesTest::status() {
  const std::lock_guard lock{guard};
  const auto known = copy.accounts().find(did);
  return known == copy.accounts().end() ? "" : known->second.status;
}

size_t AccountStatesTest::records() {
  const std::lock_guard lock{guard};
  const auto known = copy.accounts().find(did);
  return known == copy.accounts().end() ? 0 : known->second.records.size();
}

std::vector<std::string> AccountStatesTest::statuses() {
  const std::lock_guard lock{guard};
  return heard;
}

void AccountStatesTest::expect_status(const std::string& wanted) {
  EXPECT_TRUE(eventually(node_patience, [&] {
    return status() == wanted;
  })) << status()
      << tail_of(node->errors());
}

uint64_t AccountStatesTest::metric(const char* name, const std::string& label) {
  const auto page = web->get(at.operations + "/metrics");
  return page ? apps::metric_total(as_text(page->body), name, label) : 0;
}

void AccountStatesTest::expect_listings(uint64_t more) {
  const auto before = metric("weir_listing_finished_total");
  EXPECT_TRUE(eventually(node_patience, [&] {
    return metric("weir_listing_finished_total") >= before + more;
  }));
}

} // namespace

// protocol-coverage.md 4.1, 4.3
TEST_F(AccountStatesTest, ARelaysTakedownStandsUntilThatRelayWithdrawsIt) {
  start({"--upstream", "pds:" + net.urls().hosts.at(0)});
  inject(fault_kind::relay_take_down);
  expect_status("takendown");
  // The host says that it is active: in events and in its listing.
  inject(fault_kind::deactivate);
  inject(fault_kind::reactivate);
  expect_listings(6);
  EXPECT_EQ(statuses(), (std::vector<std::string>{"active", "takendown"}));
  inject(fault_kind::relay_restore);
  expect_status("active");
  const auto equal = [this] {
    const std::lock_guard lock{guard};
    return net.difference(copy);
  };
  EXPECT_TRUE(eventually(node_patience, [&] { return equal().empty(); }))
    << equal();
  stop();
}

// protocol-coverage.md 4.1: nobody can withdraw the relay's statement
TEST_F(AccountStatesTest, ATakedownEndsWithTheRelayThatIsFollowedNoMore) {
  const std::vector<std::string> pds{"--upstream",
                                     "pds:" + net.urls().hosts.at(0)};
  start(pds);
  inject(fault_kind::relay_take_down);
  expect_status("takendown");
  stop();
  leave_relay();
  start(pds);
  expect_status("active");
  stop();
}

// protocol-coverage.md 4.t7: no host and no relay knows a tombstone, and
// their listings call the account active for ever
TEST_F(AccountStatesTest, ATombstoneOfTheDirectoryOutlivesListings) {
  start({"--upstream", "pds:" + net.urls().hosts.at(0)});
  inject(fault_kind::directory_down);
  inject(fault_kind::change_handle);
  inject(fault_kind::tombstone);
  inject(fault_kind::directory_up);
  expect_status("deleted");
  expect_listings(6);
  EXPECT_EQ(statuses(), (std::vector<std::string>{"active", "deleted"}));
  EXPECT_EQ(records(), 0u);
  stop();
}

// protocol-coverage.md 4.5: a second relay repeats an old state in its listings
TEST_F(AccountStatesTest, ARelayThatIsBehindChangesNothing) {
  hostile_stream silent;
  hostile_host behind;
  behind.on("/xrpc/com.atproto.sync.subscribeRepos", silent.script());
  behind.on("/xrpc/com.atproto.sync.listRepos",
            say(http_answer(
              200, R"({"repos":[{"did":")" + did
                     + R"(","head":"bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregi)"
                       R"(ymsck7e7aqa4s52zy","rev":"3jzfcijpj2z2a",)"
                       R"("active":false,"status":"deactivated"}]})")));
  start({"--upstream", "relay:" + behind.url()});
  expect_listings(8);
  EXPECT_GT(behind.asked("/xrpc/com.atproto.sync.listRepos"), 2u);
  EXPECT_EQ(statuses(), std::vector<std::string>{"active"});
  stop();
}

// protocol-coverage.md 4.5: the event of the deletion is lost and no listing
// names the account, but its host knows
TEST_F(AccountStatesTest, ADeletionThatNobodyAnnouncesIsFound) {
  start();
  stop();
  inject(fault_kind::remove);
  simnet::fault lost;
  lost.kind = fault_kind::restart_sequence;
  ASSERT_TRUE(net.life().faults().inject(lost));
  start();
  expect_status("deleted");
  stop();
}

// architecture.md I4: an actor that keeps dying does not block its stream, and
// its repo remembers that something is missing. No listing shows it, since a
// listing counts only after an hour here.
TEST_F(AccountStatesTest, WhatWasGivenUpOfARepoIsFoundAfterAKill) {
  const std::vector<std::string> patient{"--listing-grace", "1h"};
  start(patient);
  stop();
  start(patient, {"WEIR_THROW_AT=frame.taken:1000:" + did});
  constexpr auto cursor = "weir_upstream_cursor";
  // Nothing has happened yet, so it connected without a cursor: events that the
  // relay sent before it knew this connection would be lost.
  EXPECT_TRUE(eventually(node_patience, [&] {
    net.life().traffic().post(other());
    return metric(cursor, net.urls().relay) > 0;
  }));
  const auto before = metric(cursor, net.urls().relay);
  inject(fault_kind::deactivate);
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           return metric(cursor, net.urls().relay) > before
                                  && node->errors().find("repo_parked")
                                       != std::string::npos;
                         }))
    << tail_of(node->errors());
  node->send(SIGKILL);
  node->wait(node_patience);
  consumer.reset();
  EXPECT_EQ(status(), "active");
  start(patient);
  expect_status("deactivated");
  stop();
}

// protocol-coverage.md 4.5, 5: a host that is being restored knows no accounts
TEST_F(AccountStatesTest, OneRepoNotFoundErasesNothing) {
  start();
  const auto before = records();
  inject(fault_kind::missing_repo);
  const auto answer = web->post(
    at.data + "/repos/resync",
    boost::json::serialize(
      boost::json::object{{"dids", boost::json::array{did}}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(as_text(answer->body), R"({"queued":1})");
  EXPECT_TRUE(eventually(node_patience, [this] {
    return metric("weir_backfill_finished_total", R"(result="failed")") > 0
           && metric("weir_account_questions") == 0
           && status_of(*web, at).synced == net.life().truth().accounts();
  }));
  EXPECT_EQ(statuses(), std::vector<std::string>{"active"});
  EXPECT_EQ(records(), before);
  stop();
}

// protocol-coverage.md 2.1.3: the event of its return is lost, no listing
// counts, and the account continues to write.
TEST_F(AccountStatesTest, AnAccountThatIsAwayAndWritesIsAskedAbout) {
  start({"--listing-interval", "30d", "--listing-grace", "1h"});
  inject(fault_kind::deactivate);
  expect_status("deactivated");
  inject(fault_kind::reactivate, true);
  size_t i = 0;
  while (net.life().truth().view(i).id.str() != did)
    ++i;
  net.life().traffic().post(i);
  expect_status("active");
  stop();
}

// SYNC-33; protocol-coverage.md 2.1.3: a wrong state that no event corrects. No
// listing counts, and the events of its return never come.
TEST_F(AccountStatesTest, AnAccountThatIsAwayCanBeAskedAboutByHand) {
  start({"--listing-interval", "30d", "--listing-grace", "1h"});
  inject(fault_kind::deactivate);
  expect_status("deactivated");
  inject(fault_kind::reactivate, true);
  const auto answer = web->post(
    at.data + "/repos/resync",
    boost::json::serialize(
      boost::json::object{{"dids", boost::json::array{did}}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(as_text(answer->body), R"({"queued":1})");
  expect_status("active");
  stop();
}

} // namespace weir::tests

#include "apps/weir/web_client.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/store_left.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <mutex>
#include <set>

// Events that were given up are delivered again or dropped by hand, on a
// running node and after its death.
namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// Takes every event and acks all of them, or none.
class letters_client {
public:
  letters_client(const net::transport_ptr& network, const std::string& data,
                 bool acks)
    : channel_(network, data, [this, acks](const auto& texts) {
        const std::lock_guard lock{guard_};
        std::vector<uint64_t> ids;
        for (const auto text : texts)
          ids.push_back(
            static_cast<uint64_t>(boost::json::parse({text.data(), text.size()})
                                    .at("id")
                                    .as_int64()));
        got_.insert(ids.begin(), ids.end());
        return acks ? ids : std::vector<uint64_t>{};
      }) {
    // nop
  }

  std::set<uint64_t> got() const {
    const std::lock_guard lock{guard_};
    return got_;
  }

private:
  mutable std::mutex guard_;
  std::set<uint64_t> got_;
  channel_client channel_; ///< Ends first.
};

class DeadLettersTest : public testing::Test {
protected:
  void start() {
    node = std::make_unique<program>(network.arguments(
      dir.at("data"), {"--log-format", "json", "--consumer-retry", "1s",
                       "--consumer-attempts-max", "2"}));
    at = parse_ready(node->read_line(node_patience).value_or(""));
    ASSERT_NE(at.data, "") << node->errors();
  }

  boost::json::object answer(const std::string& path,
                             const std::string& body = {}) {
    const auto url = at.data + path;
    const auto x = body.empty() ? web->get(url) : web->post(url, body);
    if (!x)
      return {};
    const auto text = as_text(x->body);
    return boost::json::parse({text.data(), text.size()}).as_object();
  }

  int64_t number(const std::string& path, const char* name) {
    const auto x = answer(path);
    const auto* value = x.if_contains(name);
    return value != nullptr ? value->as_int64() : -1;
  }

  std::set<uint64_t> letters() {
    std::set<uint64_t> out;
    const auto page = answer("/v1/dead-letters?limit=1000");
    for (const auto& x : page.at("dead_letters").as_array())
      out.insert(static_cast<uint64_t>(x.at("id").as_int64()));
    return out;
  }

  /// Acks nothing until everything is fetched and no event is due any more.
  void give_all_up() {
    const letters_client silent{web->transport(), at.data, false};
    EXPECT_TRUE(eventually(
      120s * slowness,
      [&] {
        return work_of(*web, at).none == 3
               && number("/stats/outbox-buffer", "outbox_buffer") == 0
               && number("/stats/outbox-buffer", "dead_letters") > 0
               // They are counted before their rows can be read.
               && number("/stats/outbox-buffer", "dead_letters")
                    == static_cast<int64_t>(letters().size());
      }))
      << node->errors();
  }

  void end(int by) {
    node->send(by);
    EXPECT_EQ(node->wait(node_patience), by == SIGTERM ? 0 : -by);
  }

  const temp_dir dir;
  followed_network network{1, 3, 12};
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  std::unique_ptr<program> node;
  node_addresses at;
};

} // namespace

TEST_F(DeadLettersTest, WhatIsWantedAgainComesOverADeathAndIsDoneWithItsAck) {
  start();
  give_all_up();
  const auto all = letters();
  ASSERT_GE(all.size(), 3u);
  // One is dropped for good. Of the others, those that still exist come again.
  const auto dropped = *all.begin();
  const auto one = "{\"ids\":[" + std::to_string(dropped) + ",999999]}";
  const auto refused = web->post(at.data + "/v1/dead-letters/drop",
                                 R"({"did":"did:plc:nobody"})");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 400);
  EXPECT_NE(as_text(refused->body).find("did:plc:nobody"), std::string::npos);
  const auto gone = answer("/v1/dead-letters/drop", one);
  EXPECT_EQ(gone.at("dropped").as_int64(), 1);
  EXPECT_EQ(gone.at("unknown").as_array().at(0).as_int64(), 999'999);
  EXPECT_NE(node->errors().find(R"("event":"dead_letter_dropped","consumer":)"
                                R"("channel","id":")"
                                + std::to_string(dropped) + "\""),
            std::string::npos);
  const auto back = answer("/v1/dead-letters/retry", R"({"all":true})");
  const auto retried = back.at("retried").as_int64();
  const auto* outdated = back.if_contains("outdated");
  const auto over = outdated != nullptr ? outdated->as_array().size() : 0;
  EXPECT_GT(retried, 0);
  EXPECT_EQ(static_cast<size_t>(retried) + over, all.size() - 1);
  EXPECT_EQ(number("/stats/outbox-buffer", "outbox_buffer"), retried);
  EXPECT_EQ(number("/stats/outbox-buffer", "dead_letters"), 0);
  end(SIGKILL);
  EXPECT_FALSE(HasFailure());
  start();
  EXPECT_EQ(number("/stats/outbox-buffer", "outbox_buffer"), retried);
  {
    const letters_client again{web->transport(), at.data, true};
    EXPECT_TRUE(eventually(60s * slowness, [&] {
      return number("/stats/outbox-buffer", "outbox_buffer") == 0;
    }));
    const auto got = again.got();
    EXPECT_EQ(got.size(), static_cast<size_t>(retried));
    EXPECT_FALSE(got.contains(dropped));
    for (const auto id : got)
      EXPECT_TRUE(all.contains(id)) << id;
  }
  EXPECT_TRUE(letters().empty());
  end(SIGTERM);
  EXPECT_EQ(store_left::read(dir.at("data")).findings, "");
}

TEST_F(DeadLettersTest, ThoseOfOneAccountComeAgainAndNoOthers) {
  start();
  give_all_up();
  const auto page = answer("/v1/dead-letters?limit=1000");
  const auto& all = page.at("dead_letters").as_array();
  const std::string did{all.at(0).at("did").as_string()};
  std::set<uint64_t> its;
  std::set<uint64_t> others;
  for (const auto& x : all)
    (x.at("did").as_string() == did ? its : others)
      .insert(static_cast<uint64_t>(x.at("id").as_int64()));
  ASSERT_FALSE(others.empty());
  const auto back
    = answer("/v1/dead-letters/retry", R"({"did":")" + did + "\"}");
  const auto retried = static_cast<size_t>(back.at("retried").as_int64());
  EXPECT_GT(retried, 0u);
  EXPECT_EQ(letters(), others);
  {
    const letters_client again{web->transport(), at.data, true};
    EXPECT_TRUE(eventually(60s * slowness, [&] {
      return number("/stats/outbox-buffer", "outbox_buffer") == 0;
    }));
    const auto got = again.got();
    EXPECT_EQ(got.size(), retried);
    EXPECT_TRUE(std::ranges::includes(its, got));
  }
  EXPECT_EQ(letters(), others);
  end(SIGTERM);
}

TEST_F(DeadLettersTest, WhatFailsAgainIsADeadLetterAgain) {
  start();
  give_all_up();
  const auto all = letters();
  answer("/v1/dead-letters/retry", R"({"all":true})");
  EXPECT_TRUE(letters().empty());
  give_all_up();
  const auto again = letters();
  EXPECT_FALSE(again.empty());
  for (const auto id : again)
    EXPECT_TRUE(all.contains(id)) << id;
  const auto refused
    = answer("/v1/dead-letters/retry", R"({"all":true,"limit":1})");
  EXPECT_EQ(refused.at("error").as_string(), "InvalidRequest");
  end(SIGTERM);
}

} // namespace weir::tests

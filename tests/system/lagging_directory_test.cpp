#include "apps/weir/demo_evidence.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <mutex>

// A directory that answers what was true before, or that it knows nothing
// (protocol.md 2.5.6, 4.1, 4.6). Nothing happens in the network when it is
// right again, so nothing tells of it.

namespace weir::tests {

namespace {

using simnet::fault_kind;

constexpr auto buffered = R"(result="buffered")";
constexpr auto bad_signature = R"(result="bad_signature")";
constexpr size_t accounts = 6;
constexpr size_t hit = 2; ///< The account.

class LaggingDirectoryTest : public testing::TestWithParam<bool> {
protected:
  ~LaggingDirectoryTest() override { consumer.reset(); }

  /// Follows the hosts themselves, or the relay.
  void SetUp() override {
    auto args = net.arguments(dir.at("data"), {"--listing-interval", "24h"});
    if (GetParam()) {
      const auto relay
        = std::find(args.begin(), args.end(), "relay:" + net.urls().relay);
      auto place = args.erase(relay - 1, relay + 1);
      for (const auto& host : net.urls().hosts) {
        place = args.insert(place, "pds:" + host);
        place = args.insert(place, "--upstream");
      }
    }
    node = std::make_unique<program>(std::move(args));
    at = parse_ready(node->read_line(node_patience).value_or(""));
    ASSERT_NE(at.data, "") << tail_of(node->errors());
    consumer = std::make_unique<channel_client>(
      web->transport(), at.data, [this](const auto& texts) {
        const std::lock_guard lock{guard};
        std::vector<uint64_t> acks;
        for (const auto text : texts)
          acks.push_back(copy.take(text, {}).value().id);
        return acks;
      });
    expect_equal();
  }

  void expect_equal() {
    const auto equal = [this] { return difference().empty(); };
    EXPECT_TRUE(eventually(node_patience, equal))
      << difference() << tail_of(node->errors());
  }

  std::string difference() {
    const std::lock_guard lock{guard};
    return copy.accounts().size() == accounts ? net.difference(copy)
                                              : "accounts are missing";
  }

  std::string status() {
    const std::lock_guard lock{guard};
    return copy.accounts().at(did).status;
  }

  void inject(fault_kind kind) {
    simnet::fault x;
    x.kind = kind;
    x.count = 0; // Of the directory's: until it is over.
    if (kind == fault_kind::rotate_key || kind == fault_kind::migrate) {
      x.count = 1;
      x.did = did;
    }
    ASSERT_TRUE(net.life().faults().inject(x)) << to_string(kind);
  }

  void post() {
    for (size_t i = 0; i < 3; ++i)
      net.life().traffic().post(hit);
  }

  /// Events of repos that had this result.
  uint64_t metric(const char* label) {
    const auto page = web->get(at.operations + "/metrics").value();
    return apps::metric_total(as_text(page.body), "weir_repo_events_total",
                              label);
  }

  bool reached(const std::function<bool()>& what) {
    return eventually(node_patience, what);
  }

  followed_network net{43, accounts, 60};
  const std::string did = net.life().truth().view(hit).id.str();
  const temp_dir dir;
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  std::unique_ptr<program> node;
  node_addresses at;
  std::mutex guard;
  apps::event_copy copy;
  std::unique_ptr<channel_client> consumer;
};

} // namespace

TEST_P(LaggingDirectoryTest, AKeyRotationIsNoticedWhenItIsRightAgain) {
  inject(fault_kind::directory_stale);
  inject(fault_kind::rotate_key);
  post();
  ASSERT_TRUE(reached([this] { return metric(bad_signature) > 0; }));
  inject(fault_kind::directory_up);
  expect_equal();
}

TEST_P(LaggingDirectoryTest, AMigrationIsNoticedWhenItIsRightAgain) {
  inject(fault_kind::directory_stale);
  inject(fault_kind::migrate);
  post();
  ASSERT_TRUE(reached([this] { return status() == "deactivated"; }));
  inject(fault_kind::directory_up);
  expect_equal();
}

// It answers 404 for a DID whose document is known: no answer at all.
TEST_P(LaggingDirectoryTest, OneThatForgetsAnAccountIsAsGoodAsAway) {
  inject(fault_kind::directory_forget);
  inject(fault_kind::rotate_key);
  post();
  ASSERT_TRUE(reached([this] { return metric(buffered) > 2; }));
  inject(fault_kind::directory_up);
  expect_equal();
  EXPECT_EQ(metric(bad_signature), 0u);
}

INSTANTIATE_TEST_SUITE_P(Directories, LaggingDirectoryTest, testing::Bool(),
                         [](const auto& x) {
                           return std::string{x.param ? "direct" : "relayed"};
                         });

} // namespace weir::tests

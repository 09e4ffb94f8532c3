#include "tests/system/followed_node.hpp"

#include <gtest/gtest.h>

// A directory that gives old documents, claims to know nothing, or says that an
// identity is gone (protocol-coverage.md 2.5.6, 4.1, 4.6, 4.t7). No event comes
// when it is right again, and no listing shows what was lost.

namespace weir::tests {

namespace {

using simnet::fault_kind;

constexpr auto buffered = R"(result="buffered")";
constexpr auto listing_mismatch = R"(result="listing_mismatch")";
constexpr auto bad_signature = R"(result="bad_signature")";
constexpr auto fetches = "weir_backfill_started_total";
constexpr size_t hit = 2; ///< The account that is affected.

class LaggingDirectoryTest : public followed_node,
                             public testing::TestWithParam<bool> {
protected:
  LaggingDirectoryTest() : followed_node(43, 6, 60) {
    // nop
  }

  /// Follows the hosts themselves, or the relay. Differences in a listing count
  /// only after an hour.
  void start() {
    run(arguments(GetParam(),
                  {"--listing-interval", "24h", "--listing-requests-per-hour",
                   "1", "--listing-grace", "1h"}));
  }

  void SetUp() override {
    start();
    await_equal();
  }

  /// Expects equality that no listing brought about.
  void expect_mended() {
    await_equal();
    EXPECT_EQ(count(listing_mismatch), 0u);
  }

  std::string status() {
    const auto did = net.life().truth().view(hit).id.str();
    return copy.read([&did](const apps::event_copy& x) {
      return x.accounts().at(did).status;
    });
  }

  /// Starts a fault that lasts until it is ended.
  void order(fault_kind kind) { inject(kind, {}, 0); }

  /// Requests a resync, as an operator does.
  void resync() {
    const auto did = net.life().truth().view(hit).id.str();
    const auto answer = web->post(at.data + "/repos/resync",
                                  R"({"dids":[")" + did + R"("]})");
    ASSERT_TRUE(answer);
    EXPECT_EQ(as_text(answer->body), R"({"queued":1})");
  }

  /// Number of events of repos with this label.
  uint64_t count(const char* label) {
    return metric("weir_repo_events_total", label);
  }

  /// How often the directory said that an identity is gone.
  uint64_t told_gone() {
    return net.life().requests().served(fault_kind::directory_gone);
  }

  bool reached(const std::function<bool()>& what) {
    return eventually(node_patience, what);
  }
};

} // namespace

TEST_P(LaggingDirectoryTest, AKeyRotationIsNoticedWhenItIsRightAgain) {
  order(fault_kind::directory_stale);
  inject(fault_kind::rotate_key, hit);
  post(hit);
  ASSERT_TRUE(reached([this] {
    return count(bad_signature) > 0;
  }));
  order(fault_kind::directory_up);
  expect_mended();
}

TEST_P(LaggingDirectoryTest, AMigrationIsNoticedWhenItIsRightAgain) {
  order(fault_kind::directory_stale);
  inject(fault_kind::migrate, hit);
  post(hit);
  // A fetch goes to the former host; the relay has no event about that.
  if (!GetParam()) {
    ASSERT_TRUE(reached([this] { return count(bad_signature) > 0; }));
    resync();
  }
  ASSERT_TRUE(reached([this] { return status() == "deactivated"; }));
  order(fault_kind::directory_up);
  expect_mended();
}

// architecture.md I4: the node stops while the directory is behind, between two
// look-ups. Nothing is sent again, and the next life gets no listing for an
// hour.
TEST_P(LaggingDirectoryTest, ARestartBeforeItIsRightAgainLosesNothing) {
  order(fault_kind::directory_stale);
  inject(fault_kind::rotate_key, hit);
  post(hit);
  // One is enough for a fetch of its repo.
  const uint64_t refused = GetParam() ? 1 : 3;
  ASSERT_TRUE(reached([&] { return count(bad_signature) >= refused; }));
  stop();
  start();
  order(fault_kind::directory_up);
  expect_mended();
}

// It answers 404 for a DID whose document is known, which counts as no answer.
TEST_P(LaggingDirectoryTest, OneThatForgetsAnAccountIsAsGoodAsAway) {
  const auto fetched = metric(fetches);
  order(fault_kind::directory_forget);
  inject(fault_kind::rotate_key, hit);
  post(hit);
  ASSERT_TRUE(reached([this] {
    return count(buffered) > 2;
  }));
  order(fault_kind::directory_up);
  expect_mended();
  EXPECT_EQ(count(bad_signature), 0u);
  EXPECT_EQ(metric(fetches), fetched) << "what waited was enough";
}

// architecture.md I4, protocol-coverage.md 4.t7: for a while it says that an
// identity is gone, and the process dies during that time.
TEST_P(LaggingDirectoryTest, AKillWhileItSaysThatAnAccountIsGoneLosesNothing) {
  order(fault_kind::directory_gone);
  inject(fault_kind::change_handle, hit);
  ASSERT_TRUE(reached([this] { return status() == "deleted"; }));
  kill_node();
  const auto told = told_gone();
  start();
  ASSERT_TRUE(reached([&] { return told_gone() > told; }));
  EXPECT_EQ(status(), "deleted");
  order(fault_kind::directory_up);
  expect_mended();
}

// protocol-coverage.md 4.t7: one answer erases nothing
TEST_P(LaggingDirectoryTest, OneThatSaysOnceThatAnAccountIsGoneErasesNothing) {
  const auto fetched = metric(fetches);
  inject(fault_kind::directory_gone);
  inject(fault_kind::change_handle, hit);
  expect_mended();
  EXPECT_EQ(metric(fetches), fetched);
  EXPECT_EQ(count(R"(result="account_changed")"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Directories, LaggingDirectoryTest, testing::Bool(),
                         [](const auto& x) {
                           return std::string{x.param ? "direct" : "relayed"};
                         });

} // namespace weir::tests

#include "actors/repo/limits.hpp"
#include "tests/system/followed_node.hpp"

#include <gtest/gtest.h>

#include <thread>

// A directory that answers what was true before, that it knows nothing, or that
// an identity is gone (protocol-coverage.md 2.5.6, 4.1, 4.6, 4.t7). Nothing
// happens in the network when it is right again, so nothing tells of it; and no
// listing shows what was lost.

namespace weir::tests {

namespace {

using simnet::fault_kind;

constexpr auto buffered = R"(result="buffered")";
constexpr auto listing_mismatch = R"(result="listing_mismatch")";
constexpr auto bad_signature = R"(result="bad_signature")";
constexpr auto fetches = "weir_backfill_started_total";
constexpr size_t hit = 2; ///< The account.

class LaggingDirectoryTest : public followed_node,
                             public testing::TestWithParam<bool> {
protected:
  LaggingDirectoryTest() : followed_node(43, 6, 60) {
    // nop
  }

  /// Follows the hosts themselves, or the relay. What a listing shows is not
  /// believed for an hour.
  void start() {
    run(arguments(GetParam(),
                  {"--listing-interval", "24h", "--listing-requests-per-hour",
                   "1", "--listing-grace", "1h"}));
  }

  void SetUp() override {
    start();
    await_equal();
  }

  /// It is not a listing that mended it.
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

  /// Until it is over.
  void order(fault_kind kind) { inject(kind, {}, 0); }

  /// As an operator asks for it.
  void resync() {
    const auto did = net.life().truth().view(hit).id.str();
    const auto answer = web->post(at.data + "/repos/resync",
                                  R"({"dids":[")" + did + R"("]})");
    ASSERT_TRUE(answer);
    EXPECT_EQ(as_text(answer->body), R"({"queued":1})");
  }

  /// Events of repos that had this result.
  uint64_t count(const char* label) {
    return metric("weir_repo_events_total", label);
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
  if (!GetParam()) { // A fetch goes to the former host; the relay says nothing of that one.
    ASSERT_TRUE(reached([this] { return count(bad_signature) > 0; }));
    resync();
  }
  ASSERT_TRUE(reached([this] { return status() == "deactivated"; }));
  order(fault_kind::directory_up);
  expect_mended();
}

// architecture.md I4: ends while it lags behind, between two looks at the
// document. Nothing comes again, and the next life lists nothing for an hour.
TEST_P(LaggingDirectoryTest, ARestartBeforeItIsRightAgainLosesNothing) {
  order(fault_kind::directory_stale);
  inject(fault_kind::rotate_key, hit);
  post(hit);
  const uint64_t refused = GetParam() ? 1 : 3; // By one its repo is fetched.
  ASSERT_TRUE(reached([&] { return count(bad_signature) >= refused; }));
  stop();
  start();
  order(fault_kind::directory_up);
  expect_mended();
}

// It answers 404 for a DID whose document is known: no answer at all.
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

// architecture.md I4, protocol-coverage.md 4.t7: it says for a while that an
// identity is gone, and the process dies meanwhile.
TEST_P(LaggingDirectoryTest, AKillWhileItSaysThatAnAccountIsGoneLosesNothing) {
  order(fault_kind::directory_gone);
  inject(fault_kind::change_handle, hit);
  ASSERT_TRUE(reached([this] { return status() == "deleted"; }));
  kill_node();
  start();
  // Nothing tells when the node looked for the first time in this life.
  std::this_thread::sleep_for(limits::second_look_pause / 2);
  EXPECT_EQ(status(), "deleted");
  order(fault_kind::directory_up);
  expect_mended();
}

// protocol-coverage.md 4.t7: nothing is erased for one word
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

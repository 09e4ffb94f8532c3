#include "actors/node/node.hpp"
#include "apps/demo/consumer.hpp"
#include "apps/weir/closed_stores.hpp"
#include "apps/weir/web_client.hpp"
#include "tests/support/node_partitions.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/vectors.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/realnet_replay.hpp"
#include "tests/system/verify_store.hpp"

#include <gtest/gtest.h>

#include <set>

// A capture of two real PDSs drives the engine over sockets.

namespace weir::tests {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// A clock that is later than every rev of the capture, independent of the
/// machine's. Revs are signed and cannot be changed, so to this node all its
/// streams are late.
class later_clock final : public clock {
public:
  steady_time steady_now() const noexcept override {
    return system_clock().steady_now();
  }

  wall_time wall_now() const noexcept override {
    constexpr wall_time start{1'800'000'000'000'000};
    return start + (steady_now() - begun_);
  }

private:
  const steady_time begun_ = system_clock().steady_now();
};

class RealnetTest : public testing::Test {
protected:
  void SetUp() override {
    WEIR_VECTORS(folder, "vectors/realnet");
    capture = std::make_unique<realnet_capture>(folder);
    replay = std::make_unique<realnet_replay>(*capture);
    ASSERT_EQ(capture->story.size(), 343u + 22u);
  }

  void TearDown() override {
    if (consumer)
      consumer->stop();
    consumer.reset();
    stop();
    replay.reset();
  }

  actors::node_config config() const {
    actors::node_config out;
    out.data_dir = dir.at("data");
    out.partitions = node_partitions();
    out.bind = bind;
    out.operations_bind = "127.0.0.1:0";
    for (const auto& url : replay->hosts())
      out.upstreams.push_back({url, false});
    out.plc_url = replay->directory();
    out.handle_resolver_url = resolver.empty() ? replay->directory() : resolver;
    out.plc_per_second = 5000;
    out.allow_private_addresses = true;
    out.mode = actors::tracking_mode::full_network;
    out.retry_backoff_min = out.identity_refresh_min = 1s;
    out.retry_backoff_max = out.consumer_retry = 2s;
    out.listing_grace = out.gone_grace = 1s;
    out.listing_interval = listing_interval;
    return out;
  }

  void start() {
    auto started = actors::node::start(config(),
                                       [](const error& x) {
                                         ADD_FAILURE()
                                           << "the node fell: " << x.context;
                                       },
                                       {&time, nullptr});
    ASSERT_TRUE(started) << started.error().context;
    node = std::move(*started);
    // The next life uses the same address, where the consumer finds it.
    bind = node->data_url().substr(node->data_url().rfind('/') + 1);
    if (!consumer) {
      consumer = std::make_unique<apps::demo_consumer>(web->transport(),
                                                       node->data_url());
      consumer->start();
    }
    // Frames are only sent to open connections, not from the past.
    ASSERT_TRUE(eventually(node_patience, [&] {
      const auto x = web->get(node->operations_url() + "/readyz");
      return x && x->status == 200;
    }));
  }

  void stop() {
    if (node)
      node->stop();
    node.reset();
  }

  json::object ask(const std::string& url) {
    return json::parse(as_text(web->get(url).value().body)).as_object();
  }

  /// Whether all frames are processed and no repo has work left.
  bool settled() {
    const auto cursors = ask(node->data_url() + "/stats/cursors");
    for (size_t i = 0; i < realnet_capture::hosts; ++i)
      if (cursors.at("upstreams").at(i).at("cursor").to_number<int64_t>()
          != replay->newest(i))
        return false;
    return at_rest();
  }

  /// Whether there are repos and none has work left.
  bool at_rest() {
    const auto work
      = work_of(*web, {node->data_url(), node->operations_url()});
    return work.none > 0 && work.open == 0;
  }

  void settle() {
    ASSERT_TRUE(eventually(node_patience,
                           [&] {
                             return settled();
                           }))
      << replay->newest(0) << ", " << replay->newest(1) << " against "
      << json::serialize(ask(node->data_url() + "/stats/cursors"))
      << json::serialize(ask(node->operations_url() + "/status"));
  }

  /// Tells everything. The engine is up to date where the capture's engine was.
  void follow() {
    do {
      if (replay->next_needs_rest()) {
        ASSERT_NO_FATAL_FAILURE(settle());
      }
    } while (replay->tell());
  }

  /// Whether the final state of a repo is certain to be delivered. Commits that
  /// were dropped for a later fetch are lost when the account goes away first,
  /// since its host then refuses the repo.
  bool is_told(const realnet_capture::account& x) const {
    return x.active || !missed_some;
  }

  /// How the consumer's copy of one account differs from `x`.
  std::string difference(const std::string& did,
                         const realnet_capture::account& x) {
    std::string out;
    consumer->read([&](const apps::event_copy& copy) {
      const auto found = copy.accounts().find(did);
      if (found == copy.accounts().end()) {
        // A repo that never existed here is not delivered.
        out = x.status == "deleted" ? "" : "it is not known";
        return;
      }
      const auto& known = found->second;
      const std::map<std::string, std::string> held{known.records.begin(),
                                                    known.records.end()};
      if (known.active != x.active || known.status != x.status)
        out += "it is " + known.status + "; ";
      if (known.handle != x.handle && x.active)
        out += "its handle is " + known.handle + "; ";
      if (held != x.records && is_told(x))
        out += std::to_string(held.size()) + " records";
    });
    const auto info = ask(node->data_url() + "/info/" + did);
    if (const auto* rev = info.if_contains("rev");
        rev && rev->as_string() != x.rev && is_told(x))
      out += "; its rev is " + json::value_to<std::string>(*rev);
    return out;
  }

  /// The same for the store that a node has left, which no API shows.
  std::string difference_in(const store_readers& store, const atproto::did& id,
                            const realnet_capture::account& x) const {
    const auto rows = store.load_repo(id).value();
    const auto& repo = rows.row;
    const auto chain = rows.chain ? *rows.chain : storage::chain_row{};
    std::string out;
    bool told = false;
    consumer->read([&](auto& y) { told = y.accounts().contains(id.str()); });
    if (!repo && !told && x.status == "deleted")
      return out; // It was gone before a document named its host.
    if (const auto pds = repo ? repo->pds : ""; pds != replay->present(x.pds))
      out += "its host is " + pds + "; ";
    const auto head = chain.commit.defined() ? chain.commit.to_text() : "";
    if (head != x.head && is_told(x))
      out += "its head is " + head + "; ";
    const auto rev = chain.rev.defined() ? chain.rev.str() : "";
    if (rev != x.rev && is_told(x))
      out += "its rev is " + rev;
    return out;
  }

  /// Stops the node and compares its store.
  void expect_the_end_in_the_store() {
    stop();
    const auto stores = apps::closed_stores::open(dir.at("data")).value();
    for (const auto& [did, x] : capture->accounts) {
      const auto id = atproto::did::parse(did).value();
      EXPECT_EQ(difference_in(stores.repos().of(id), id, x), "")
        << did << ", scenario \"" << x.scenario << '"';
    }
  }

  /// Expects that all scenarios are in their final state, then stops the node.
  void expect_the_end() {
    std::string last;
    EXPECT_TRUE(eventually(
      node_patience,
      [&] {
        last.clear();
        for (const auto& [did, x] : capture->accounts)
          if (const auto found = difference(did, x); !found.empty())
            last += did + ", scenario \"" + x.scenario + "\": " + found + "\n";
        return last.empty();
      }))
      << last;
    std::set<std::string> scenarios;
    for (const auto& [did, x] : capture->accounts)
      if (!x.scenario.empty())
        scenarios.insert(x.scenario);
    EXPECT_EQ(scenarios.size(), 14u);
    EXPECT_EQ(capture->accounts.size(), 17u);
    consumer->read([](const apps::event_copy& copy) {
      EXPECT_EQ(copy.counts().conflicts, 0u);
      EXPECT_EQ(copy.counts().out_of_order, 0u);
      EXPECT_EQ(copy.counts().unreadable, 0u);
    });
    expect_the_end_in_the_store();
  }

  /// Adjusts what a listing cannot tell: inactive accounts were never
  /// delivered, so nothing must be taken back, and their hosts refuse the repo.
  /// For deleted ones not even the host is known.
  void expect_what_is_left() {
    for (auto& [did, x] : capture->accounts) {
      if (!x.active || x.tombstoned)
        x.be_away(x.tombstoned ? "deleted" : x.status);
      if (x.status == "deleted")
        x.pds.clear();
    }
  }

  std::string account_with(std::string_view scenario) const {
    for (const auto& [did, x] : capture->accounts)
      if (x.scenario == scenario)
        return did;
    return {};
  }

  const later_clock time;
  const temp_dir dir;
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  std::chrono::seconds listing_interval{86'400};
  std::string bind = "127.0.0.1:0";
  /// Resolver of handles; empty: the capture's directory.
  std::string resolver;
  bool missed_some = false; ///< See `is_told`.
  std::unique_ptr<realnet_capture> capture;
  std::unique_ptr<realnet_replay> replay;
  std::unique_ptr<actors::node> node;
  std::unique_ptr<apps::demo_consumer> consumer;
};

} // namespace

// protocol-coverage.md 2.1.2, 2.5.1, 3.3, 4.t2, 4.t3, 4.t4, 4.6, 11.3, 11.10
TEST_F(RealnetTest, FollowedLiveEveryScenarioEndsInItsState) {
  ASSERT_NO_FATAL_FAILURE(start());
  follow();
  ASSERT_NO_FATAL_FAILURE(settle());
  expect_the_end();
  // Frames were enough: one fetch made each repo known, another one followed
  // for those that had been inactive.
  for (const auto& [did, x] : capture->accounts) {
    const auto was_away = x.scenario == "reactivate" || x.scenario == "suspend";
    EXPECT_EQ(replay->fetches(did),
              x.status == "deleted" ? 0u : (was_away ? 2u : 1u))
      << x.scenario;
  }
  // The replay itself ended in the real hosts' state.
  for (size_t i = 0; i < realnet_capture::hosts; ++i)
    EXPECT_EQ(replay->list(i), capture->listings[i]);
}

// Only the directory has the tombstone: the host still serves the repo, and
// only a new look-up of the identity shows it (protocol-coverage.md 4.0,
// #identity).
TEST_F(RealnetTest, ATombstoneIsADeletionOnceTheIdentityIsReadAnew) {
  ASSERT_NO_FATAL_FAILURE(start());
  follow();
  ASSERT_NO_FATAL_FAILURE(settle());
  const auto did = account_with("tombstone");
  auto& expected = capture->accounts.at(did);
  ASSERT_TRUE(expected.tombstoned);
  EXPECT_EQ(expected.records.size(), 18u);
  EXPECT_TRUE(eventually(node_patience, [&] {
    return difference(did, expected).empty();
  }));
  atproto::identity_event hint;
  hint.seq = replay->newest(0) + 1;
  hint.repo = atproto::did::parse(did).value();
  hint.time = "2026-11-21T00:00:00.000Z";
  replay->send(0, hint.seq, atproto::encode_frame(hint));
  expected.be_away("deleted");
  std::string last;
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           last = difference(did, expected);
                           return last.empty();
                         }))
    << last;
  expect_the_end_in_the_store();
}

// Only the listings and the recorded CARs, with their own order of blocks.
TEST_F(RealnetTest, FoundLateEveryScenarioEndsInItsState) {
  while (replay->tell()) {
  }
  expect_what_is_left();
  ASSERT_NO_FATAL_FAILURE(start());
  expect_the_end();
  for (const auto& [did, x] : capture->accounts)
    EXPECT_EQ(replay->fetches(did), x.active ? 1u : 0u) << x.scenario;
  stop();
  const auto second = verify(dir.at("data"), {"--against", replay->hosts()[1]});
  EXPECT_EQ(second.findings, "");
  EXPECT_EQ(second.count("repos compared"), 2u);
  // The account that moved does not belong to its old host any more.
  const auto first = verify(dir.at("data"), {"--against", replay->hosts()[0]});
  EXPECT_EQ(first.findings, "");
  EXPECT_EQ(first.count("repos compared"), 11u);
}

// A node stops while handles are being verified (protocol-coverage.md 8.8). No
// event names these accounts again, but they are verified nevertheless.
TEST_F(RealnetTest, HandlesThatWereBeingCheckedAreCheckedInTheNextLife) {
  while (replay->tell()) {
  }
  expect_what_is_left();
  hostile_host silent;
  silent.on("/xrpc/com.atproto.identity.resolveHandle",
            [](raw_peer& peer, const std::string&) {
              peer.wait_for_end();
            });
  resolver = silent.url();
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_TRUE(eventually(node_patience, [&] {
    return at_rest();
  }));
  EXPECT_GE(silent.connections(), 1u);
  stop();
  consumer->read([&](const apps::event_copy& copy) {
    for (const auto& [did, known] : copy.accounts())
      EXPECT_NE(known.handle, capture->accounts.at(did).handle);
  });
  resolver.clear();
  ASSERT_NO_FATAL_FAILURE(start());
  expect_the_end();
}

// Everything happens while the engine is down, including changes of keys, hosts
// and handles. It returns with old cursors to a changed network.
// protocol-coverage.md 4.6
TEST_F(RealnetTest, AwayAgainAndAgainEveryScenarioEndsInItsState) {
  constexpr size_t stride = 23;
  listing_interval = 1s;
  missed_some = true;
  size_t lives = 0;
  for (; replay->told() < capture->story.size(); ++lives) {
    ASSERT_NO_FATAL_FAILURE(start());
    for (size_t i = 0; i < stride; ++i)
      replay->tell();
    if (lives % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(settle());
    }
    stop();
    for (size_t i = 0; i < stride; ++i)
      replay->tell();
  }
  EXPECT_EQ(lives, 8u);
  ASSERT_NO_FATAL_FAILURE(start());
  expect_the_end();
}

} // namespace weir::tests

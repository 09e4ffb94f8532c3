#include "actors/support/limits_health.hpp"
#include "actors/upstream/limits.hpp"
#include "tests/support/node_partitions.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/watched_node.hpp"

#include <algorithm>
#include <list>
#include <vector>

// architecture.md, A wrong clock: somebody raises a doubt on purpose.
namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// A node whose only relay carries two honest hosts and two that give wrong
/// times.
class DoubtedClockTest : public NetFixture {
protected:
  DoubtedClockTest() {
    relay.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    config.data_dir = dir.at("data");
    config.partitions = node_partitions();
    config.bind = config.operations_bind = "127.0.0.1:0";
    config.upstreams = {{relay.url(), true}};
    config.plc_url = config.handle_resolver_url = relay.url();
    config.allow_private_addresses = true;
  }

  /// Makes repos on both hosts, tracked and in sync.
  void make(std::list<live_repo>& to, hostile_host& one, hostile_host& two) {
    for (size_t i = 0; i < limits::clock_signers_min; ++i) {
      auto& x = to.emplace_back(++made_);
      auto& host = i % 2 == 0 ? one : two;
      x.put("app.test.note/a", make_record("one"));
      x.commit();
      relay.publish(x, host.url());
      host.serve(x);
    }
  }

  void start() {
    actors::node_seams seams;
    seams.time = &time;
    node = actors::node::start(
             config,
             [](const error& why) {
               ADD_FAILURE() << to_string(why);
             },
             std::move(seams))
             .value();
    for (const auto* repos : {&honest, &lying})
      for (const auto& x : *repos)
        web->post(node->data_url() + "/repos/add",
                  "{\"dids\":[\"" + x.did().str() + "\"]}");
    for (const auto* repos : {&honest, &lying})
      for (const auto& x : *repos)
        ASSERT_TRUE(eventually(node_patience,
                               [&] {
                                 return repo(x).find("\"synced\"")
                                        != std::string::npos;
                               }))
          << repo(x);
  }

  /// Sends commits of one repo, each a second after the one before.
  /// @param ahead How far the first is in the future.
  /// @returns the rev of the last one.
  std::string send(live_repo& x, std::chrono::microseconds ahead,
                   size_t count = 1) {
    x.put("app.test.note/" + std::to_string(seq_), make_record("more"));
    auto draft = x.draft();
    for (size_t i = 0; i < count; ++i) {
      draft.object.rev
        = atproto::tid::from_time(time.wall_now() + ahead + i * 1s, 1);
      draft.seq = ++seq_;
      EXPECT_TRUE(stream.send(draft.encode(draft.sign(x.key()))));
    }
    return draft.object.rev.str();
  }

  std::string get(const std::string& url) {
    return std::string{as_text(web->get(url).value().body)};
  }

  std::string repo(const test_repo& x) {
    return get(node->data_url() + "/repos/" + x.did().str());
  }

  std::string readiness() { return get(node->operations_url() + "/readyz"); }

  bool in_doubt() {
    return readiness().find("\"cause\":\"clock\"") != std::string::npos;
  }

  bool holds() {
    return readiness().find("seems to be slow") != std::string::npos;
  }

  /// Lets time pass if the node waits for it.
  void pass_holds() {
    if (!holds())
      return;
    time.pass(limits::clock_hold);
    EXPECT_TRUE(eventually(node_patience, [this] {
      return !holds();
    }));
  }

  const temp_dir dir;
  shifted_clock time;
  hostile_stream stream;
  hostile_host relay; ///< Also the directory and an honest host.
  hostile_host other_host;
  hostile_host liar;
  hostile_host other_liar;
  std::list<live_repo> honest;
  std::list<live_repo> lying;
  actors::node_config config;
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  std::unique_ptr<actors::node> node;

private:
  uint64_t made_ = 0;
  int64_t seq_ = 0;
};

} // namespace

// docs/hostile-inputs.md 2.1.12; limits::clock_window_part
TEST_F(DoubtedClockTest, AWindowFullOfTheFutureHoldsNobodyForGood) {
  make(honest, relay, other_host);
  make(lying, liar, other_liar);
  start();
  for (auto& x : lying)
    send(x, 24h);
  ASSERT_TRUE(eventually(node_patience, [this] {
    return in_doubt();
  }));
  for (auto& x : lying)
    send(x, 24h + 1min,
         limits::upstream_frames_max / limits::clock_signers_min + 1);
  std::vector<std::string> revs;
  for (auto& x : honest)
    revs.push_back(send(x, 0s));
  EXPECT_TRUE(eventually(
    node_patience,
    [&] {
      pass_holds();
      return std::equal(honest.begin(), honest.end(), revs.begin(),
                        [this](const test_repo& x, const std::string& rev) {
                          return repo(x).find(rev) != std::string::npos;
                        });
    }))
    << readiness();
  EXPECT_TRUE(eventually(node_patience,
                         [this] {
                           pass_holds();
                           return !in_doubt();
                         }))
    << readiness();
  for (auto& x : honest)
    EXPECT_NE(repo(x).find("\"synced\""), std::string::npos) << repo(x);
}

} // namespace weir::tests

#include "tests/system/channel_client.hpp"
#include "tests/system/hostile_crowd.hpp"
#include "tests/system/hostile_node.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace weir::tests {

namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

/// One good PDS, alone or in a crowd of bad ones, and a consumer.
class HostileCrowdTest : public NetFixture {
protected:
  static constexpr size_t good_repos = 20;

  HostileCrowdTest() {
    hub.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    for (size_t i = 0; i < good_repos; ++i) {
      auto& x = repos.emplace_back(i + 1);
      x.put("app.test.note/a", make_record("one"));
      x.commit();
      hub.publish_and_serve(x);
    }
  }

  /// A node that follows all of them, the crowd's accounts first.
  void start(size_t bad_hosts, const std::function<misdeed(size_t)>& deed,
             int64_t forgeries) {
    crowd = std::make_unique<hostile_crowd>(bad_hosts, deed, forgeries, hub);
    follow_all(crowd->upstreams(),
               {"--sync-parallelism", "64", "--sync-per-host", "2"});
    auto all = crowd->accounts();
    for (const auto& x : repos)
      all.push_back(x.did());
    node->add(all);
  }

  /// The good host and these. Nothing is tracked yet.
  void follow_all(std::vector<std::string> upstreams,
                  std::vector<std::string> options) {
    upstreams.push_back("pds:" + hub.url());
    options.insert(options.end(),
                   {"--memory-limit", "2GiB", "--retry-backoff-min", "60s",
                    "--repo-bytes-max", "1MiB"});
    if (const auto* rate = std::getenv("RATE"))
      options.insert(options.end(), {"--pds-events-per-second", rate});
    node = std::make_unique<hostile_node>(upstreams, hub.url(), options);
    channel = std::make_unique<channel_client>(
      network, node->data_url(),
      [this](const std::vector<std::string_view>& texts) {
        std::vector<uint64_t> ids;
        for (const auto text : texts) {
          const auto id = text.find(R"("id":)") + 5;
          ids.push_back(std::strtoull(text.data() + id, nullptr, 10));
          if (text.find(R"("live":true)") != std::string_view::npos)
            live.push(std::string{text});
        }
        return ids;
      });
  }

  /// Live commits of the good host, each after the last one came to the
  /// consumer, and not sooner than `pace` after that was sent: how many
  /// milliseconds they took.
  std::vector<double> follow(size_t commits,
                             std::chrono::milliseconds pace = {}) {
    std::vector<double> out;
    while (out.size() < commits) {
      ++seq;
      auto& repo = repos.front();
      repos.splice(repos.end(), repos, repos.begin());
      repo.put("app.test.note/live", make_record(std::to_string(seq)));
      auto draft = repo.draft();
      draft.seq = seq;
      const auto frame = draft.encode(draft.sign(repo.key()));
      const auto began = steady_clock::now();
      EXPECT_TRUE(stream.send(frame));
      std::optional<std::string> event;
      do
        event = live.pop(node_patience);
      while (event && event->find(repo.rev().str()) == std::string::npos);
      if (!event) {
        ADD_FAILURE() << "commit " << seq << " never came";
        break;
      }
      out.push_back(
        std::chrono::duration<double, std::milli>(steady_clock::now() - began)
          .count());
      std::this_thread::sleep_until(began + pace);
    }
    return out;
  }

  hostile_stream stream;
  hostile_host hub; ///< Directory, and the good host.
  std::list<test_repo> repos;
  std::unique_ptr<hostile_crowd> crowd;
  std::unique_ptr<hostile_node> node;
  inbox<std::string> live;
  int64_t seq = 0; ///< Of the good host's stream.
  std::unique_ptr<channel_client> channel;
};

/// A crowd in a process of its own, which has what the others leave of the
/// CPUs: it shares nothing with the node but the machine.
///
/// # Ownership
/// Must be made before the test has threads. The process ends with the object.
class distant_crowd {
public:
  distant_crowd(size_t hosts, misdeed deed) {
    std::array<int, 2> up{};
    std::array<int, 2> life{};
    if (pipe(up.data()) != 0 || pipe(life.data()) != 0)
      std::abort();
    const auto parent = getpid();
    process_ = fork();
    if (process_ == 0) {
      // Stopped or not, it ends with the test, however that ends.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent)
        _exit(1);
      close(life[1]);
      serve(hosts, deed, up[1], life[0]);
    }
    close(up[1]);
    close(life[0]);
    life_ = life[1];
    auto* in = fdopen(up[0], "r");
    std::array<char, 256> line{};
    while (upstreams.size() < hosts
           && std::fgets(line.data(), line.size(), in) != nullptr)
      upstreams.emplace_back(line.data(), std::strlen(line.data()) - 1);
    std::fclose(in);
  }

  distant_crowd(const distant_crowd&) = delete;
  distant_crowd& operator=(const distant_crowd&) = delete;

  ~distant_crowd() {
    run(true);
    close(life_);
    waitpid(process_, nullptr, 0);
  }

  /// While it does not it is as if there was no host.
  void run(bool does) { kill(process_, does ? SIGCONT : SIGSTOP); }

  std::vector<std::string> upstreams;

private:
  [[noreturn]] static void serve(size_t hosts, misdeed deed, int up, int life) {
    const sched_param none{};
    sched_setscheduler(0, SCHED_IDLE, &none);
    hostile_host directory;
    const hostile_crowd crowd{hosts,
                              [deed](size_t) {
                                return deed;
                              },
                              std::numeric_limits<int64_t>::max(), directory};
    for (const auto& x : crowd.upstreams())
      dprintf(up, "%s\n", x.c_str());
    char ignored = 0;
    while (read(life, &ignored, 1) > 0)
      continue;
    _exit(0);
  }

  pid_t process_ = 0;
  int life_ = -1;
};

/// reliability.md P11, measured on request (docs/testing.md).
class LatencyTest : public HostileCrowdTest {
protected:
  static void SetUpTestSuite() {
    const auto deed = std::find(names.begin(), names.end(), wished_deed());
    ASSERT_NE(deed, names.end()) << "MISDEED is none that we know";
    if (const auto hosts = wished("HOSTS", 0); hosts > 0)
      distant = std::make_unique<distant_crowd>(
        hosts, static_cast<misdeed>(deed - names.begin()));
  }

  static void TearDownTestSuite() { distant = nullptr; }

  static std::string wished_deed() {
    const auto* out = std::getenv("MISDEED");
    return out == nullptr ? std::string{names[0]} : out;
  }

  static void print(const char* when, std::vector<double>& x) {
    std::sort(x.begin(), x.end());
    const auto part = [&x](double share) {
      return x[static_cast<size_t>(static_cast<double>(x.size() - 1) * share)];
    };
    std::cout << when << ": " << x.size() << " commits, ms: p50 " << part(0.5)
              << " p99 " << part(0.99) << " max " << x.back() << '\n';
  }

  static constexpr std::array<std::string_view, misdeeds> names{
    "slow", "endless", "resetting", "forging"};
  static inline std::unique_ptr<distant_crowd> distant;
};

} // namespace

// reliability.md P11, P9: 100 bad hosts, 25 of each kind.
TEST_F(HostileCrowdTest, AHundredBadHostsDoNotKeepAGoodOneFromItsConsumer) {
  start(
    100,
    [](size_t i) {
      return static_cast<misdeed>(i % misdeeds);
    },
    100);
  for (const auto& x : repos)
    EXPECT_EQ(node->await(x.did(), "synced").records, 1u);
  EXPECT_EQ(follow(good_repos).size(), good_repos);
  for (const auto& x : repos)
    EXPECT_EQ(node->repo(x.did()).rev, x.rev().str());
  EXPECT_EQ(crowd->met(), 100u);
  EXPECT_GT(crowd->forged(), 0u);
  EXPECT_TRUE(node->is_healthy());
  EXPECT_LT(node->peak_bytes(), 256 * megabyte + memory_slack);
}

// How much later a good host's commits come. Bad hosts are at work and stopped
// in turns, so that what the machine does meanwhile is in both.
TEST_F(LatencyTest, BesideBadHostsIsMeasured) {
  if (!distant)
    GTEST_SKIP() << "HOSTS is not set";
  ASSERT_EQ(distant->upstreams.size(), wished("HOSTS", 0));
  follow_all(distant->upstreams, {});
  std::vector<atproto::did> accounts;
  for (const auto& x : repos)
    accounts.push_back(x.did());
  node->add(accounts);
  for (const auto& x : accounts)
    node->await(x, "synced");
  accounts.clear();
  for (size_t i = 0; i < distant->upstreams.size(); ++i) {
    const auto x = hostile_crowd::account(i);
    const auto& upstream = distant->upstreams[i];
    hub.publish(x, upstream.substr(upstream.find(':') + 1));
    accounts.push_back(x.did());
  }
  node->add(accounts);
  // Half of what a PDS may send, or the host would wait for itself.
  constexpr auto pace = 4ms;
  constexpr size_t turn = 1'000;
  // Until every host was met and every buffer on the way to it is full.
  follow(wished("FIRST", 5) * turn, pace);
  for (const auto& x : distant->upstreams)
    ASSERT_TRUE(node->await_metric("weir_upstream_dials_total{upstream=\""
                                     + x.substr(x.find(':') + 1) + "\"}",
                                   1))
      << x;
  std::array<std::vector<double>, 2> times;
  for (size_t i = 0; i < 2 * wished("TURNS", 5); ++i) {
    distant->run(i % 2 == 0);
    auto some = follow(turn, pace);
    ASSERT_EQ(some.size(), turn);
    auto& all = times.at(i % 2);
    all.insert(all.end(), some.begin(), some.end());
    print(i % 2 == 0 ? "  at work" : "  stopped", some);
  }
  std::cout << accounts.size() << " hosts, " << wished_deed() << '\n';
  print("at work", times[0]);
  print("stopped", times[1]);
}

} // namespace weir::tests

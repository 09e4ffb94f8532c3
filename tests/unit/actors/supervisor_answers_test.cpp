#include "actors/supervisor/limits.hpp"
#include "net/limits.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"

#include <iostream>
#include <set>

// Many hosts in simulated time: some answer, one is slow, most never answer.
namespace weir::tests::supervisors {
namespace {

constexpr auto tick_time = 100ms;
constexpr auto never = std::chrono::microseconds::max();
constexpr int late = 1;
constexpr int first_honest = 100;
constexpr int first_silent = 1'000;

/// Fetches of repos whose hosts answer after their time; an answer is complete
/// at once. Honest hosts always have repos to fetch.
class network {
public:
  explicit network(supervisor_options options) : x_(options) {}

  void add(int repo) { x_.ask(repo, host_of(repo)); }

  void run(std::chrono::microseconds time) {
    for (const auto end = x_.now + time; x_.now < end;) {
      x_.pass(tick_time);
      take_started();
      give_up();
      for (auto i = running_.begin(); i != running_.end();) {
        const auto [repo, began] = *i++;
        go_on(repo, x_.now - began);
      }
      answer_questions();
    }
  }

  size_t done(int repo) const {
    const auto i = done_.find(repo);
    return i == done_.end() ? 0 : i->second;
  }

  steady_time now() const { return x_.now; }

private:
  static std::string host_of(int repo) {
    const auto honest = repo >= first_honest && repo < first_silent;
    return honest ? "https://honest.test"
                  : "https://h" + std::to_string(repo) + ".test";
  }

  static std::chrono::microseconds answer_of(int repo) {
    if (repo == late)
      return 10s;
    return repo < first_silent ? std::chrono::microseconds{200ms} : never;
  }

  void take_started() {
    for (; seen_ < x_.started.size(); ++seen_) {
      const auto repo = std::stoi(x_.started[seen_].substr(9));
      running_[repo] = x_.now;
      x_.download(repo);
    }
  }

  void give_up() {
    std::set<std::string> gone{x_.unanswered.begin(), x_.unanswered.end()};
    gone.insert(x_.crawling.begin(), x_.crawling.end());
    gone.insert(x_.given_back.begin(), x_.given_back.end());
    x_.unanswered.clear();
    x_.crawling.clear();
    x_.given_back.clear();
    for (const auto& repo : gone)
      end(std::stoi(repo.substr(9)), repo_status::pending, 0s);
  }

  void go_on(int repo, std::chrono::microseconds age) {
    if (age >= answer_of(repo)) {
      x_.bytes(repo, 10, true);
      x_.host(host_of(repo), host_verdict::fine);
      ++done_[repo];
      end(repo, repo_status::desync, repo == late ? 1h : 0s);
    } else if (age >= limits::first_byte_timeout) {
      x_.host(host_of(repo), host_verdict::silent);
      end(repo, repo_status::error, 60s);
    }
  }

  void end(int repo, repo_status status, std::chrono::seconds wait) {
    running_.erase(repo);
    x_.end(repo);
    x_.wish(repo, status, wait, host_of(repo));
  }

  void answer_questions() {
    for (; answered_ < x_.prepared.size(); ++answered_) {
      const auto repo = std::stoi(x_.prepared[answered_].substr(9));
      x_.ready(repo, host_of(repo));
    }
  }

  queue x_;
  std::map<int, steady_time> running_;
  std::map<int, size_t> done_;
  size_t seen_ = 0;
  size_t answered_ = 0;
};

/// The crowd comes first, then the slow host, then the honest ones.
class SilentCrowd : public testing::TestWithParam<size_t> {
protected:
  static network make() {
    supervisor_options options;
    options.parallelism = GetParam();
    return network{options};
  }
};

} // namespace

// actors.md, Who is fetched next: others wait for the first turn of 150 hosts.
TEST_P(SilentCrowd, HonestReposDoNotWaitForAllThatNeverAnswers) {
  auto x = make();
  for (int i = 0; i < 150; ++i)
    x.add(first_silent + i);
  for (int i = 0; i < 20; ++i)
    x.add(first_honest + i);
  const auto crowd = limits::fetch_answer_wait_busy + 2 * tick_time;
  const auto permits = static_cast<int>(GetParam());
  // With one or two permits, silent hosts that rested get half of the time.
  x.run((permits > 2 ? 1 : 2) * 150 * crowd / permits + 20s);
  for (int i = 0; i < 20; ++i)
    EXPECT_GE(x.done(first_honest + i), 1u) << i;
}

// A PDS needs ten seconds for its first byte, while a crowd of others waits and
// honest hosts always have work.
TEST_P(SilentCrowd, ASlowFirstByteIsFetchedWhileOthersWait) {
  auto x = make();
  for (int i = 0; i < 40; ++i)
    x.add(first_silent + i);
  x.add(late);
  for (int i = 0; i < 20; ++i)
    x.add(first_honest + i);
  x.run(1h);
  EXPECT_GE(x.done(late), 1u);
}

// Later they do not get more than their part either.
TEST_P(SilentCrowd, HonestReposKeepMostOfThePermits) {
  auto x = make();
  for (int i = 0; i < 20; ++i)
    x.add(first_honest + i);
  x.run(30s);
  size_t alone = 0;
  for (int i = 0; i < 20; ++i)
    alone += x.done(first_honest + i);
  for (int i = 0; i < 150; ++i)
    x.add(first_silent + i);
  x.run(20min);
  size_t beside = 0;
  for (int i = 0; i < 20; ++i)
    beside += x.done(first_honest + i);
  beside -= alone;
  std::cout << alone * 40 << " alone, " << beside << " beside\n";
  EXPECT_GE(beside * 8, alone * 40);
}

INSTANTIATE_TEST_SUITE_P(Permits, SilentCrowd, testing::Values(1, 2, 3, 16));

} // namespace weir::tests::supervisors

#pragma once

#include "actors/supervisor/supervisor_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace weir::tests::supervisors {

using namespace std::chrono_literals;
using namespace weir::actors;
using storage::repo_status;

inline constexpr auto a_host = "https://a.test";
inline constexpr auto b_host = "https://b.test";

inline atproto::did repo_of(int x) {
  return atproto::did::trusted("did:web:r" + std::to_string(x) + ".test");
}

inline std::string name(int x) {
  return repo_of(x).str();
}

/// A queue whose look-ups and fetches end as the test says.
class queue {
public:
  explicit queue(supervisor_options options = {}) : machine(options) {
    // nop
  }

  void wish(int repo, repo_status status = repo_status::pending,
            std::chrono::seconds wait = 0s, const std::string& pds = {}) {
    take(machine.on_wish(repo_of(repo), status, pds, wait, now));
  }

  /// The scan's page contains a repo.
  void found(int repo, repo_status status = repo_status::pending,
             std::chrono::seconds wait = 0s, const std::string& pds = {},
             bool quiet = false) {
    take(machine.on_found(repo_of(repo), status, pds, wait, now, quiet));
  }

  void start() { take(machine.on_start(now, wall)); }

  /// A look-up has ended. Without a host its REPO attends to it.
  void ready(int repo, const std::string& pds) {
    identity_answer said{repo_of(repo), fail(ec::not_found)};
    if (!pds.empty()) {
      said.fact = storage::identity_row{};
      said.fact->pds = pds;
    }
    take(machine.on_identity(said, now));
    if (pds.empty())
      attended(repo);
  }

  /// A look-up fails, and its REPO makes a wish before it has attended to that.
  void failed(int repo, std::chrono::seconds wait) {
    take(machine.on_identity({repo_of(repo), fail(ec::unreachable)}, now));
    wish(repo, repo_status::error, wait);
    attended(repo);
  }

  void attended(int repo) { take(machine.on_attended(repo_of(repo), now)); }

  /// A repo requests a fetch, and its host is found.
  void ask(int repo, const std::string& pds) {
    wish(repo);
    ready(repo, pds);
  }

  void end(int repo) { end(repo, latest[name(repo)]); }

  void end(int repo, uint64_t job) {
    take(machine.on_end(repo_of(repo), job, now));
  }

  void lost(int repo) {
    take(machine.on_owner_lost(repo_of(repo), latest[name(repo)], now));
  }

  void host(const std::string& pds, host_verdict verdict,
            std::chrono::seconds retry_after = 0s) {
    take(machine.on_host({pds, verdict, retry_after}, now));
  }

  /// A page of the scan was read to its end.
  void paged(const std::string& next, bool end) {
    scan.reset();
    take(machine.on_page(next, end, now));
  }

  void download(int repo) {
    take(machine.on_download(repo_of(repo), latest[name(repo)], now));
  }

  /// Reports how many bytes of the body came so far.
  void bytes(int repo, uint64_t n, bool received = false) {
    take(machine.on_progress({latest[name(repo)], n, received}, now));
  }

  /// Lets time pass; a timer that is due rings once.
  void pass(std::chrono::microseconds x) {
    now = now + x;
    wall = wall + x;
    if (timer && *timer <= now) {
      timer.reset();
      take(machine.on_timer(now));
    }
  }

  void tick() { take(machine.on_timer(now)); }

  void clear() {
    prepared.clear();
    woken.clear();
    started.clear();
    jobs.clear();
    crawling.clear();
    given_back.clear();
    unanswered.clear();
    scans = 0;
  }

  supervisor_machine machine;
  steady_time now{1'000'000'000};
  wall_time wall{1'700'000'000'000'000};
  std::vector<std::string> prepared; ///< Looked up, or woken.
  std::vector<std::string> woken;    ///< Those of `prepared` that were woken.
  std::vector<std::string> started;
  std::vector<uint64_t> jobs;
  std::map<std::string, uint64_t> latest; ///< The newest job of each repo.
  std::vector<std::string> crawling;
  std::vector<std::string> given_back;
  std::vector<std::string> unanswered;
  /// The request that is not answered yet.
  std::optional<work_scan::request> scan;
  size_t scans = 0;
  std::optional<steady_time> timer;

private:
  void take(const supervisor_machine::effects& x) {
    for (const auto& repo : x.look_up)
      prepared.push_back(repo.str());
    for (const auto& errand : x.attend)
      if (errand.identity == nullptr) {
        prepared.push_back(errand.repo.str());
        woken.push_back(errand.repo.str());
      }
    for (const auto& one : x.start) {
      started.push_back(one.repo.str());
      jobs.push_back(one.job);
      latest[one.repo.str()] = one.job;
    }
    for (const auto& one : x.crawling)
      crawling.push_back(one.repo.str());
    for (const auto& one : x.given_back)
      given_back.push_back(one.repo.str());
    for (const auto& one : x.unanswered)
      unanswered.push_back(one.repo.str());
    scans += x.scan ? 1 : 0;
    if (x.scan)
      scan = x.scan;
    if (x.timer && (!timer || *x.timer < *timer))
      timer = x.timer;
  }
};
} // namespace weir::tests::supervisors

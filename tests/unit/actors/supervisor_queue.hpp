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

/// A queue whose REPOs answer as the test says.
class queue {
public:
  explicit queue(supervisor_options options = {}) : machine(options) {
    // nop
  }

  void wish(int repo, repo_status status = repo_status::pending,
            std::chrono::seconds wait = 0s, const std::string& pds = {}) {
    take(machine.on_wish(repo_of(repo), status, pds, wait, now));
  }

  /// In a page of the scan.
  void found(int repo, repo_status status = repo_status::pending,
             std::chrono::seconds wait = 0s, const std::string& pds = {},
             bool quiet = false) {
    take(machine.on_found(repo_of(repo), status, pds, wait, now, quiet));
  }

  void start() { take(machine.on_start(now, wall)); }

  void ready(int repo, const std::string& pds) {
    take(machine.on_ready(repo_of(repo), pds, now));
  }

  /// Wishes, and is told its host.
  void ask(int repo, const std::string& pds) {
    wish(repo);
    ready(repo, pds);
  }

  void end(int repo) { end(repo, latest[name(repo)]); }

  void end(int repo, uint64_t job) {
    take(machine.on_end(repo_of(repo), job, now));
  }

  void lost(int repo, bool in_order) {
    take(machine.on_owner_lost(repo_of(repo), latest[name(repo)], in_order,
                               now));
  }

  void host(const std::string& pds, host_verdict verdict,
            std::chrono::seconds retry_after = 0s) {
    take(machine.on_host(pds, verdict, retry_after, now));
  }

  /// A page of the scan was read.
  void paged(const std::string& next, bool end) {
    scan.reset();
    take(machine.on_page(next, end, now));
  }

  void download(int repo) {
    take(machine.on_download(repo_of(repo), latest[name(repo)], now));
  }

  /// Of the body, so far.
  void bytes(int repo, uint64_t n, bool received = false) {
    take(machine.on_progress(latest[name(repo)], n, received, now));
  }

  /// The clocks move; the timer comes when it is due, once.
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
  std::vector<std::string> prepared;
  std::vector<std::string> started;
  std::vector<uint64_t> jobs;
  std::map<std::string, uint64_t> latest; ///< Job of each repo.
  std::vector<std::string> crawling;
  std::vector<std::string> given_back;
  std::vector<std::string> unanswered;
  std::optional<work_scan::request> scan; ///< That is to be answered.
  size_t scans = 0;
  std::optional<steady_time> timer;

private:
  void take(const supervisor_machine::effects& x) {
    for (const auto& repo : x.prepare)
      prepared.push_back(repo.str());
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

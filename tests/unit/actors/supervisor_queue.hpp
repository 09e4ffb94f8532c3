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
            int64_t wait = 0) {
    take(machine.on_wish(repo_of(repo), status,
                         wait == 0 ? 0 : wall.seconds() + wait, now, wall));
  }

  void ready(int repo, const std::string& pds) {
    take(machine.on_ready(repo_of(repo), pds, now, wall));
  }

  /// Wishes, and is told its host.
  void ask(int repo, const std::string& pds) {
    wish(repo);
    ready(repo, pds);
  }

  void end(int repo) { end(repo, latest[name(repo)]); }

  void end(int repo, uint64_t job) {
    take(machine.on_end(repo_of(repo), job, now, wall));
  }

  void lost(int repo, bool in_order) {
    take(machine.on_owner_lost(repo_of(repo), latest[name(repo)], in_order, now,
                               wall));
  }

  void host(const std::string& pds, host_verdict verdict,
            std::chrono::seconds retry_after = 0s) {
    take(machine.on_host(pds, verdict, retry_after, now, wall));
  }

  void removed(int repo) { take(machine.on_removed(repo_of(repo), now, wall)); }

  void scanned() { take(machine.on_scanned(now, wall)); }

  /// The clocks move; the timer comes when it is due, once.
  void pass(std::chrono::microseconds x) {
    now = now + x;
    wall = wall + x;
    if (timer && *timer <= now) {
      timer.reset();
      take(machine.on_timer(now, wall));
    }
  }

  void tick() { take(machine.on_timer(now, wall)); }

  void clear() {
    prepared.clear();
    started.clear();
    jobs.clear();
    scans = 0;
  }

  supervisor_machine machine;
  steady_time now{1'000'000'000};
  wall_time wall{1'700'000'000'000'000};
  std::vector<std::string> prepared;
  std::vector<std::string> started;
  std::vector<uint64_t> jobs;
  std::map<std::string, uint64_t> latest; ///< Job of each repo.
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
    scans += x.scan ? 1 : 0;
    if (x.timer && (!timer || *x.timer < *timer))
      timer = x.timer;
  }
};
} // namespace weir::tests::supervisors

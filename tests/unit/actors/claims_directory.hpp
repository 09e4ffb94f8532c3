#pragma once

#include "actors/supervisor/claims_machine.hpp"
#include "actors/supervisor/limits_claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace weir::tests::claims {

using namespace std::chrono_literals;
using namespace weir::actors;
using kind = claims_machine::word::kind;

inline constexpr steady_time noon{1'000'000'000};
inline constexpr auto its_host = "https://pds.test";
inline const listing_id of_pds{1, {}};
inline const listing_id of_other{2, {}};

inline atproto::did claimed_did(size_t i) {
  return atproto::did::trusted("did:plc:claim" + std::to_string(i));
}

inline std::vector<claims_machine::claim>
claims_of(size_t first, size_t count, bool active = true) {
  std::vector<claims_machine::claim> out;
  for (size_t i = first; i < first + count; ++i)
    out.push_back({claimed_did(i), active});
  return out;
}

/// What the machine holds for these claims of listings.
inline size_t bytes_of(const std::vector<claims_machine::claim>& claims) {
  size_t out = 0;
  for (const auto& x : claims)
    out += claims_machine::cost_of(x);
  return out;
}

/// A directory that answers the machine's questions one after another.
class directory {
public:
  void take(claims_machine::effects x) {
    asked.insert(asked.end(), x.ask.begin(), x.ask.end());
    anew.insert(anew.end(), x.ask_anew.begin(), x.ask_anew.end());
    for (auto& each : x.confirmed)
      confirmed.push_back(each.second);
    pages.insert(pages.end(), x.pages.begin(), x.pages.end());
    if (x.timer)
      timer = x.timer;
    dropped += x.dropped;
    if (x.prove)
      take(machine.on_proof(is_right, now));
  }

  void page(const listing_id& what, std::vector<claims_machine::claim> x,
            const std::string& host = its_host) {
    take(machine.on_page(what, host, std::move(x), now, wall));
  }

  /// Gives an answer. Its document is newer than the claim, unless the answer
  /// has a time.
  void say(const atproto::did& repo, claims_machine::word x) {
    if (x.fetched_at == 0)
      x.fetched_at = wall.seconds() + 1;
    take(machine.on_word(repo, x, now));
  }

  /// Lets the retry interval pass, so that due questions are asked again.
  void pass_retry() {
    now = now + limits::claim_retry;
    take(machine.on_timer(now));
  }

  /// Answers until no question is left. @returns the number of questions
  size_t say_all(const claims_machine::word& x) {
    size_t out = 0;
    for (; !asked.empty(); ++out)
      say(next(), x);
    return out;
  }

  atproto::did next() {
    auto out = asked.front();
    asked.pop_front();
    return out;
  }

  claims_machine machine;
  steady_time now = noon;
  wall_time wall{1'700'000'000'000'000};
  bool is_right = true; ///< The document is the same as before.
  std::deque<atproto::did> asked;
  std::vector<atproto::did> anew;
  std::vector<atproto::did> confirmed;
  std::vector<claims_machine::verdict> pages;
  std::optional<steady_time> timer;
  size_t dropped = 0;
};

} // namespace weir::tests::claims

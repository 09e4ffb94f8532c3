#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "base/limits_claims.hpp"
#include "base/limits_streams.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// A DID that a listing or a stream names.
struct listed_claim {
  atproto::did repo;
  bool active = true; ///< As its listing says.
};

/// One that is not decided.
struct waiting_claim {
  listed_claim of;
  size_t tries = 0;        ///< That nobody answered.
  int64_t since = 0;       ///< Unix seconds.
  bool wants_anew = false; ///< The known document is not enough.
  bool asked_anew = false;
  bool was_missing = false; ///< And counted as that.
};

/// Whose claims they are: one listing or one stream. Part of `claims_machine`.
struct claim_source {
  std::string host; ///< The origin of a PDS; empty: a relay.
  std::deque<waiting_claim> waiting;
  std::unordered_map<atproto::did, waiting_claim> asked;
  /// To be asked about again, and when.
  std::deque<std::pair<steady_time, waiting_claim>> later;
  bool in_proof = false; ///< It is bad, if the directory is right.
  size_t decided = 0;
  size_t failed = 0;
  size_t bytes = 0; ///< Of its claims.

  bool waits() const noexcept {
    return !in_proof && !waiting.empty()
           && asked.size() < limits::claims_asked_share;
  }

  size_t size() const noexcept {
    return waiting.size() + asked.size() + later.size();
  }

  /// Most of what it claimed is not so.
  bool is_bad() const noexcept {
    return decided >= limits::claims_judged_min && failed * 2 > decided;
  }

  void decide(bool fails) noexcept {
    ++decided;
    failed += fails ? 1 : 0;
    if (decided >= 10 * limits::claims_judged_min) {
      decided /= 2;
      failed /= 2;
    }
  }

  /// One that was missing has counted.
  void decide(const waiting_claim& x, bool fails) noexcept {
    if (!x.was_missing)
      decide(fails);
    else if (!fails && failed > 0)
      --failed;
  }

  /// What is said of its claims is nobody's any more.
  void forget_claims() {
    waiting.clear();
    asked.clear();
    later.clear();
    in_proof = false;
  }
};

} // namespace weir::actors

#pragma once

#include "actors/supervisor/limits_claims.hpp"
#include "actors/support/site.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "messages/repo.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::actors {

/// A DID that a listing or a stream names.
struct listed_claim {
  atproto::did repo;
  bool active = true; ///< What the listing states about the account.
};

/// The claims that lines of unknown repos make. A DID whose method cannot be
/// resolved is no claim, because no document can confirm it.
inline std::vector<listed_claim>
claims_in(const std::vector<repo_listed>& lines) {
  std::vector<listed_claim> out;
  for (const auto& line : lines)
    if (atproto::supported_did(line.repo.str()))
      out.push_back(
        {line.repo, line.account == storage::account_status::active});
  return out;
}

/// The result of looking up the document of a claimed DID.
struct claim_word {
  enum class kind : uint8_t {
    /// The document names `pds`. Empty: it names no host, or has a tombstone.
    names_host,
    missing, ///< There is no document, or no usable one.
    away,    ///< The directory or host did not answer.
  };
  kind what = kind::missing;
  std::string pds;
  int64_t fetched_at = 0; ///< Unix seconds.
  /// The DID, if `away`, is not looked up again before this time.
  steady_time not_before{};

  static claim_word of(const identity_answer& x) {
    if (x.fact)
      return {kind::names_host,
              x.fact->tombstoned ? std::string{} : x.fact->pds,
              x.fact->fetched_at};
    const auto code = x.fact.error().code;
    const auto away = code == ec::unreachable || code == ec::limit_reached;
    return {away ? kind::away : kind::missing, {}, 0, x.not_before};
  }

  /// Whether a document names a host. A tombstone names none.
  bool has_host() const noexcept {
    return what == kind::names_host && !pds.empty();
  }

  /// Whether the document has a tombstone, or names no host.
  bool is_gone() const noexcept {
    return what == kind::names_host && pds.empty();
  }
};

/// How a claim that a document does not confirm is looked up again.
enum class second_look : uint8_t { none, anew, later };

/// A claim that is not decided yet.
struct waiting_claim {
  listed_claim of;
  size_t tries = 0;        ///< Look-ups without an answer.
  int64_t since = 0;       ///< When the claim was made, in Unix seconds.
  bool wants_anew = false; ///< The stored document does not suffice.
  bool asked_anew = false;
  bool was_missing = false; ///< No document was found at the first look.
  bool has_failed = false;  ///< The first look counted it as false.

  /// @param agrees The document confirms the claim.
  second_look next_look(const claim_word& said, bool agrees) {
    // After the first look, a tombstone or a missing host is established.
    if ((said.what == claim_word::kind::missing || said.is_gone())
        && !document_is_foreign(of.repo)) {
      wants_anew = said.is_gone() && !was_missing;
      return std::exchange(was_missing, true) ? second_look::none
                                              : second_look::later;
    }
    // The same second counts as old, too: the order within it is unknown.
    wants_anew = said.what == claim_word::kind::names_host && !agrees
                 && said.fetched_at <= since && !asked_anew;
    return wants_anew ? second_look::anew : second_look::none;
  }

  /// Whether the directory is asked a second time for an account that has a
  /// tombstone there and that a listing calls away: when the tombstone was read
  /// just now, or long ago. The directory may have erred.
  bool is_looked_up(const claim_word& said) const noexcept {
    constexpr auto known_long
      = std::chrono::seconds{limits::gone_claim_interval}.count();
    return said.is_gone()
           && (said.fetched_at >= since
               || said.fetched_at + known_long <= since);
  }
};

/// The origin of claims: one listing or one stream. Part of `claims_machine`.
struct claim_source {
  std::string host; ///< The origin of a PDS; empty for a relay.
  std::deque<waiting_claim> waiting;
  std::deque<waiting_claim> waiting_web; ///< Claims of did:web names.
  bool web_is_next = false;              ///< The two queues take turns.
  std::unordered_map<atproto::did, waiting_claim> asked;
  /// Claims to look up again, and when; the earliest comes first.
  std::deque<std::pair<steady_time, waiting_claim>> later;
  /// Most claims failed, and the directory is being asked for a document that
  /// must exist, to see whether the failures are its fault.
  bool in_proof = false;
  size_t decided = 0;
  size_t failed = 0;
  size_t bytes = 0; ///< Memory of its claims.

  /// @param first Puts the claim in front of its queue.
  void put(waiting_claim x, bool first = false) {
    auto& line = document_is_foreign(x.of.repo) ? waiting_web : waiting;
    line.insert(first ? line.begin() : line.end(), std::move(x));
  }

  void put_later(waiting_claim x, steady_time at) {
    const auto behind = std::upper_bound(
      later.begin(), later.end(), at,
      [](steady_time wanted, const auto& y) { return wanted < y.first; });
    later.emplace(behind, at, std::move(x));
  }

  /// @param web Whether a did:web name may be looked up now.
  bool waits(bool web) const noexcept {
    return !in_proof && asked.size() < limits::claims_asked_share
           && !(waiting.empty() && (!web || waiting_web.empty()));
  }

  waiting_claim take(bool web) {
    web_is_next = web && !waiting_web.empty() && (web_is_next || waiting.empty());
    auto& line = web_is_next ? waiting_web : waiting;
    web_is_next = !web_is_next;
    auto out = std::move(line.front());
    line.pop_front();
    return out;
  }

  /// Claims that are not being looked up.
  size_t waiting_count() const noexcept {
    return waiting.size() + waiting_web.size();
  }

  size_t size() const noexcept {
    return waiting_count() + asked.size() + later.size();
  }

  /// Whether most of its decided claims were false.
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

  /// Decides a claim. What the first look counted is taken back when the second
  /// look differs.
  void decide(const waiting_claim& x, bool fails) noexcept {
    if (!x.was_missing)
      decide(fails);
    else if (fails && !x.has_failed)
      ++failed;
    else if (!fails && x.has_failed && failed > 0)
      --failed;
  }

  /// Drops all claims. Answers that come for them later are ignored.
  void forget_claims() {
    waiting.clear();
    waiting_web.clear();
    asked.clear();
    later.clear();
    in_proof = false;
  }
};

/// Counts the claims that are looked up at once, of all listings or streams.
class claims_asked {
public:
  bool has_place() const noexcept { return all_ < limits::claims_asked_max; }

  bool has_web_place() const noexcept { return web_ < limits::claims_web_max; }

  void add(const atproto::did& x) noexcept {
    ++all_;
    web_ += document_is_foreign(x) ? 1 : 0;
  }

  void remove(const atproto::did& x) noexcept {
    --all_;
    web_ -= document_is_foreign(x) ? 1 : 0;
  }

private:
  size_t all_ = 0;
  size_t web_ = 0; ///< Claims of did:web names.
};

} // namespace weir::actors

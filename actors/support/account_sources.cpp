#include "actors/support/account_sources.hpp"

#include "actors/support/state_words.hpp"
#include "base/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors::account_sources {

using storage::account_status;
using storage::account_words;
using storage::relay_word;

namespace {

/// The relay's own decision. Other states are the host's, which it passes on.
account_status verdict_of(const saying& x) noexcept {
  return x.said == account_status::takendown
             || x.said == account_status::suspended
           ? x.said
           : account_status::active;
}

relay_word* find(account_words& x, uint32_t relay) noexcept {
  const auto i = std::ranges::find_if(x.relays, [&](const relay_word& word) {
    return word.at.upstream == relay;
  });
  return i == x.relays.end() ? nullptr : &*i;
}

bool note_relay(account_words& x, const saying& what) {
  const auto said = verdict_of(what);
  auto* word = find(x, what.at.upstream);
  if (word == nullptr) {
    const auto says_nothing = what.listed && said == account_status::active;
    if (says_nothing || x.relays.size() >= limits::upstreams_max)
      return false;
    x.relays.push_back({said, what.at});
    return said != account_status::active;
  }
  if (!what.listed)
    word->at = what.at;
  return std::exchange(word->said, said) != said;
}

/// Whether the same stream sent an event after the listing was requested: a
/// listing may take long to arrive.
bool is_outdated(const account_words& x, const position& asked_at) {
  const auto is_later = [&](const position& at) {
    return asked_at.defined() && at != asked_at && at.reaches(asked_at);
  };
  return is_later(x.host_at)
         || std::ranges::any_of(x.relays, is_later, &relay_word::at);
}

/// Stores what a relay passes on about the host's state, as far as it counts.
heard note_hearsay(account_words& x, const saying& what, bool own_stream) {
  if (verdict_of(what) != account_status::active || what.said == x.host)
    return {};
  // One of the two is behind: the listing would undo the host's own answer, or
  // what another relay passes on, each time it is read.
  const auto contradicts = x.asked
                           || (x.host_by != 0
                               && x.host_by != what.at.upstream);
  if (own_stream || (what.listed && contradicts))
    return {false, true};
  x.host = what.said;
  x.host_by = what.at.upstream;
  x.asked = false;
  return {true, false};
}

} // namespace

saying said_by(const atproto::stamped_frame& frame,
               const atproto::account_event& event) {
  // throttled and desynchronized accounts are active: they are visible.
  return {event.active ? account_status::active : inactive_status(event.status),
          frame.at, frame.relay, false};
}

saying listed_by(const upstream_view& from, account_status said,
                 const position& asked_at) {
  return {said, {from.id, from.epoch, 0}, from.relay, true, asked_at};
}

bool was_heard(const account_words& x, const position& at) noexcept {
  return x.host_at.reaches(at)
         || std::ranges::any_of(x.relays, [&](const relay_word& word) {
              return word.at.reaches(at);
            });
}

heard hear(account_words& x, const saying& what, bool own_stream) {
  if (what.listed && is_outdated(x, what.asked_at))
    return {};
  if (what.relay) {
    const auto noted = note_relay(x, what);
    auto out = note_hearsay(x, what, own_stream);
    out.changed |= noted;
    return out;
  }
  // The line of a listing can wait for a look-up, so it may be older or newer
  // than the answer of the host. If the host sends no event, the next listing
  // counts.
  if (what.listed && x.asked && what.said != account_status::active
      && what.said != x.host) {
    x.asked = false;
    return {true, true};
  }
  if (!what.listed) {
    x.asked = false;
    x.host_at = what.at;
  }
  x.host_by = 0;
  return {std::exchange(x.host, what.said) != what.said, false};
}

bool answer(account_words& x, account_status said) {
  const auto changed = x.host != said || !x.asked;
  x.host = said;
  x.host_by = 0;
  x.asked = true;
  return changed;
}

bool note_identity(account_words& x, bool tombstoned) {
  return std::exchange(x.tombstoned, tombstoned) != tombstoned;
}

bool denies_tombstone(const account_words& x, account_status said, bool relay,
                      bool own_stream) noexcept {
  return x.tombstoned && said != account_status::deleted
         && (!relay || !own_stream);
}

bool has_strangers(const account_words& x, const upstream_board& board) {
  return std::ranges::any_of(x.relays, [&](const relay_word& word) {
    return word.said != account_status::active
           && board.find(word.at.upstream).id == 0;
  });
}

bool forget_strangers(account_words& x, const upstream_board& board) {
  return std::erase_if(x.relays,
                       [&](const relay_word& word) {
                         return board.find(word.at.upstream).id == 0;
                       })
         > 0;
}

bool is_former(const upstream_view& from, const std::string& pds) {
  return !from.relay && !pds.empty() && from.origin != pds;
}

bool has_own_stream(const upstream_board& board, const std::string& pds) {
  const auto from = board.accounting_for(pds);
  return from.id != 0 && !from.relay;
}

bool is_news(const account_words& x, const saying& what, bool own_stream) {
  auto words = x;
  const auto out = hear(words, what, own_stream);
  return out.ask || out.changed;
}

} // namespace weir::actors::account_sources

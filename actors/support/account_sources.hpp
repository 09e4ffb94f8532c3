#pragma once

#include "actors/support/upstream_view.hpp"
#include "atproto/stamped_frame.hpp"
#include "storage/format/records.hpp"

/// Whose word on an account counts for what (protocol-coverage.md 4.1): a PDS
/// speaks for its own accounts. A relay passes on what the host says, and may
/// take an account down by itself; that stands until the same relay withdraws
/// it. Where listings of relays contradict each other or the host, or a host's
/// own one calls an account away that it said is active, the host is asked. The
/// directory says whether there is such an identity at all.
///
/// Pure functions over the words of one account. What an account is in the end
/// is `storage::combined` of them.
namespace weir::actors::account_sources {

/// What a stream or a listing says.
struct saying {
  storage::account_status said = storage::account_status::active;
  position at;         ///< Of the #account; `seq` 0: of a listing.
  bool relay = false;  ///< Else it is the account's current host.
  bool listed = false; ///< A listing comes again and again, an event once.
  /// Of a listing: what its stream had brought when it was asked for. An
  /// #account behind that may be younger than the listing.
  position asked_at{};
};

/// What an #account says.
saying told_by(const atproto::stamped_frame& frame,
               const atproto::account_event& event);

/// What a listing of that upstream says.
/// @param asked_at See `saying`; undefined: nobody knows.
saying listed_by(const upstream_view& from, storage::account_status said,
                 const position& asked_at);

/// What is to follow.
struct heard {
  bool changed = false; ///< The words are to be written; a position can wait.
  bool ask = false;     ///< Only the host itself can say whether it is so.
};

/// Whether this #account, or a later one of the same stream, was heard before.
bool was_heard(const storage::account_words& x, const position& at) noexcept;

/// @param own_stream The host has a stream of its own here: then what a relay
/// passes on of the host's state proves nothing.
heard hear(storage::account_words& x, const saying& what, bool own_stream);

/// The current host was asked, or a proof of its state was seen.
/// @returns Whether the words changed.
bool answer(storage::account_words& x, storage::account_status said);

/// The directory was asked: no host and no relay withdraws a tombstone.
/// @returns Whether the words changed.
bool note_identity(storage::account_words& x, bool tombstoned);

/// Whether its host, or a relay where the host has no stream of its own here,
/// has an account that the directory has a tombstone for: active, or away in a
/// way from which it can come back. That withdraws nothing, but the directory may
/// have erred.
bool denies_tombstone(const storage::account_words& x,
                      storage::account_status said, bool relay,
                      bool own_stream) noexcept;

/// Whether a relay that is followed no more objects to the account.
bool has_strangers(const storage::account_words& x,
                   const upstream_board& board);

/// Nobody can withdraw the words of relays that are followed no more.
/// @returns Whether the words changed.
bool forget_strangers(storage::account_words& x, const upstream_board& board);

/// Whether that upstream is a host where an account of host `pds` is not, or
/// is no more.
bool is_former(const upstream_view& from, const std::string& pds);

/// Whether the host of a repo has a stream of its own here.
bool has_own_stream(const upstream_board& board, const std::string& pds);

/// Whether a listing says anything that is not known.
bool is_news(const storage::account_words& x, const saying& what,
             bool own_stream);

} // namespace weir::actors::account_sources

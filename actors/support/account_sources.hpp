#pragma once

#include "actors/support/upstream_view.hpp"
#include "atproto/stamped_frame.hpp"
#include "storage/format/records.hpp"

/// Which report about an account counts for what (protocol-coverage.md 4.1). A
/// PDS speaks for its own accounts. A relay passes on what the host reports,
/// and may also take an account down by itself; that stands until the same
/// relay withdraws it. The host is asked when listings of relays contradict
/// each other or the host, or when a host's own listing contradicts its event.
/// The directory decides whether the identity exists at all.
///
/// Pure functions over the stored reports about one account. The resulting
/// status is `storage::combined` of them.
namespace weir::actors::account_sources {

/// One report of a stream or a listing.
struct saying {
  storage::account_status said = storage::account_status::active;
  position at;         ///< Place of the event; `seq` 0: it is from a listing.
  bool relay = false;  ///< False: it comes from the account's current host.
  bool listed = false; ///< Listings repeat; an event comes once.
  /// The position of the stream of a listing when the listing was requested.
  /// An #account event after that position may be newer than the listing.
  position asked_at{};
};

/// The report in an #account event.
saying said_by(const atproto::stamped_frame& frame,
               const atproto::account_event& event);

/// The report in a listing of that upstream.
/// @param asked_at See `saying`; undefined when it is not known.
saying listed_by(const upstream_view& from, storage::account_status said,
                 const position& asked_at);

/// The result of a report.
struct heard {
  /// The row must be written; a new position alone can wait.
  bool changed = false;
  bool ask = false; ///< Only the host itself can decide: ask it.
};

/// Whether this #account event, or a later one of the same stream, was
/// processed before. After a crash, streams repeat frames; a repeated event
/// must not undo what a later one decided.
bool was_heard(const storage::account_words& x, const position& at) noexcept;

/// @param own_stream The node follows the stream of the host: then what a relay
/// passes on about the account proves nothing.
heard hear(storage::account_words& x, const saying& what, bool own_stream);

/// The current host answered, or a proof of its state was seen.
/// @returns Whether the reports changed.
bool answer(storage::account_words& x, storage::account_status said);

/// The directory answered. No host and no relay can withdraw a tombstone.
/// @returns Whether the reports changed.
bool note_identity(storage::account_words& x, bool tombstoned);

/// Whether a host or relay contradicts a tombstone of the directory: the
/// account's host, or a relay when the node does not follow the host's stream,
/// reports the account as active or as inactive in a way that can end. That
/// does not withdraw the tombstone, but the directory may be wrong.
bool denies_tombstone(const storage::account_words& x,
                      storage::account_status said, bool relay,
                      bool own_stream) noexcept;

/// Whether a relay that the node no longer follows objects to the account.
bool has_strangers(const storage::account_words& x,
                   const upstream_board& board);

/// Removes the reports of relays that the node no longer follows, because those
/// relays can no longer withdraw them.
/// @returns Whether the reports changed.
bool forget_strangers(storage::account_words& x, const upstream_board& board);

/// Whether that upstream is a PDS other than `pds`, so that the account is not
/// there, or is there no longer.
bool is_former(const upstream_view& from, const std::string& pds);

/// Whether the node follows the stream of a repo's host.
bool has_own_stream(const upstream_board& board, const std::string& pds);

/// Whether a listing reports something new.
bool is_news(const storage::account_words& x, const saying& what,
             bool own_stream);

} // namespace weir::actors::account_sources

#pragma once

#include "atproto/cid.hpp"
#include "atproto/frame.hpp"
#include "atproto/identifiers.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The formats of Tap, as its published clients read them (api.md, Events).
/// Each function appends one JSON text to `out` or reads one. None throws.
namespace weir::wire {

// -- events on /channel -------------------------------------------------------

/// One change of one record. Borrows everything.
struct tap_record {
  uint64_t id = 0; ///< `event_id`.
  bool live = true;
  std::string_view did;
  atproto::tid rev;
  std::string_view collection;
  std::string_view rkey;
  atproto::op_action action = atproto::op_action::create;
  const atproto::cid& cid; ///< Not used for a delete.
  bytes_view body;         ///< DAG-CBOR; empty when there is no body to show.
};

/// Appends a record event. The event has the CID but no `record` when the body
/// is absent or undecodable, or when strict clients would refuse the event: an
/// event that a client cannot parse is never acknowledged.
void append_tap_record(const tap_record& x, std::string& out);

/// What is known of an account. It is the content of `$identity` and `$account`
/// operations: `{"handle":..,"is_active":..,"status":..}`.
struct account_fact {
  std::string handle; ///< Empty or `handle.invalid` when unknown.
  bool active = true;
  std::string status; ///< Any word; clients see one of the five that they know.
};

result<account_fact> parse_account_fact(bytes_view json);

void append_tap_identity(uint64_t id, std::string_view did,
                         const account_fact& x, std::string& out);

/// The fact alone, in the words of an identity event.
void append_account_fact(const account_fact& x, std::string& out);

/// Returns the id of an ack, or nothing for a message of another type, which is
/// ignored. Fails with `ec::malformed` when the text is no message, or has one
/// of the two members twice (ADR 17).
result<std::optional<uint64_t>> parse_ack(std::string_view text);

// -- answers ------------------------------------------------------------------

/// Answer of `/info/:did`. Borrows everything.
struct tap_info {
  std::string_view did;
  std::string_view handle;  ///< Verified, or empty.
  std::string_view status;  ///< Status of the repo (SYNC-02).
  std::string_view account; ///< "active", or why the account is not active.
  atproto::tid rev;         ///< Undefined before the first fetch.
  uint64_t records = 0;
  std::string_view error;
  uint32_t retries = 0;
  /// An addition to Tap, which its client ignores. Left out when unset.
  std::optional<bool> complete{};
};

void append_tap_info(const tap_info& x, std::string& out);

/// Answer of `/resolve/:did`: the parts of a DID document that matter here.
/// Borrows. Empty parts are left out.
struct identity_view {
  std::string_view did;
  std::string_view handle;      ///< As the document claims; not verified.
  std::string_view signing_key; ///< As Multikey text.
  std::string_view pds;
};

void append_did_document(const identity_view& x, std::string& out);

/// Answer of `/stats/<name>` with one number: `{"repo_count":5}`.
void append_count(std::string_view name, uint64_t count, std::string& out);

struct upstream_cursor {
  std::string_view url;
  uint64_t cursor = 0;
};

/// Answer of `/stats/cursors`. `firehose` is the cursor of the first upstream,
/// since Tap has only one; `upstreams` has all. Unknown cursors are left out.
void append_cursors(std::span<const upstream_cursor> upstreams,
                    std::string_view list_repos, std::string& out);

} // namespace weir::wire

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

/// The wire of Tap, as its published clients read it (api.md, Events). Every
/// function appends one JSON text to `out` or reads one; none throws.
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
  const atproto::cid& cid; ///< Not looked at on delete.
  bytes_view body;         ///< DAG-CBOR; empty when there is none to show.
};

/// A record that is absent, undecodable, or would make strict clients refuse
/// the event goes out with its cid and without `record`: an event that a client
/// cannot parse is never acknowledged.
void append_tap_record(const tap_record& x, std::string& out);

/// What is known of an account: content of `$identity` and `$account`
/// operations, `{"handle":..,"is_active":..,"status":..}`.
struct account_fact {
  std::string handle; ///< Empty or `handle.invalid` when unknown.
  bool active = true;
  std::string status; ///< Any word; clients see the five they know.
};

result<account_fact> parse_account_fact(bytes_view json);

void append_tap_identity(uint64_t id, std::string_view did,
                         const account_fact& x, std::string& out);

/// What an ack says: the id, or nothing for a message of another type, which is
/// ignored. `ec::malformed` when the text is no message at all, or has one of the
/// two members twice.
result<std::optional<uint64_t>> parse_ack(std::string_view text);

// -- answers ------------------------------------------------------------------

/// `/info/:did`. Borrows everything.
struct tap_info {
  std::string_view did;
  std::string_view handle;  ///< Verified, or empty.
  std::string_view status;  ///< Of the repo (SYNC-02).
  std::string_view account; ///< "active", or why not.
  atproto::tid rev;         ///< Undefined before the first fetch.
  uint64_t records = 0;
  std::string_view error;
  uint32_t retries = 0;
  /// More than Tap says; its client passes over it. Unset: left out.
  std::optional<bool> complete{};
};

void append_tap_info(const tap_info& x, std::string& out);

/// `/resolve/:did`: the parts of a DID document that matter here. Borrows; what
/// is empty is left out.
struct identity_view {
  std::string_view did;
  std::string_view handle; ///< As the document claims.
  std::string_view signing_key; ///< Multikey.
  std::string_view pds;
};

void append_did_document(const identity_view& x, std::string& out);

/// `/stats/<name>` with one number: `{"repo_count":5}`.
void append_count(std::string_view name, uint64_t count, std::string& out);

struct upstream_cursor {
  std::string_view url;
  uint64_t cursor = 0;
};

/// `/stats/cursors`: `firehose` is the first upstream's, as Tap knows one;
/// `upstreams` has them all. What is not known is left out.
void append_cursors(std::span<const upstream_cursor> upstreams,
                    std::string_view list_repos, std::string& out);

} // namespace weir::wire

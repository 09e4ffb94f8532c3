#pragma once

#include "atproto/did_document.hpp"
#include "atproto/directory_export.hpp"
#include "base/clock.hpp"
#include "messages/repo.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weir {

/// Asks for an identity; the answers go to the actor that comes with it.
/// From: REPO, SUPERVISOR, NODE, api. To: IDENTITY.
struct identity_ask {
  atproto::did repo;
  bool fresh = false; ///< Look it up, even if it is cached.
  uint64_t number = 0; ///< Chosen by the sender; each answer repeats it.
  /// Which queue the look-up waits in: that of the site whose host's stream
  /// needs it, or a name that several askers share. When empty, that of the
  /// account's host.
  std::string by{};
  /// NODE wants to see whether the directory answers. Nobody gets an answer. It
  /// is sent at once, even after failures, unless the directory limits us.
  bool probe = false;
};

/// Others need the same look-up as well. From: REPO. To: IDENTITY.
struct identity_shared {
  atproto::did repo;
  std::string by;
};

/// The stored identity. From: READER. To: IDENTITY.
struct identity_stored {
  atproto::did repo;
  std::optional<storage::identity_row> row;
  /// What the directory's export says, when there is no row.
  std::optional<storage::identity_row> exported = std::nullopt;
};

/// The answer to a look-up. From: the HTTP call. To: IDENTITY.
struct identity_document {
  atproto::did repo;
  result<atproto::did_document> doc{};
  bool gone = false; ///< There is a tombstone, and no document.
  /// The time of the answer, by the directory's clock.
  std::optional<wall_time> date = std::nullopt;
  /// TLS proves the date, so it can confirm our clock.
  bool date_is_proved = false;
  /// Set when the answer was status 429: the wait that it asks for, if any.
  std::optional<std::chrono::seconds> limited = std::nullopt;
  /// The answer is about an unregistered DID, but not in a directory's words.
  bool is_foreign = false;
};

/// One page of the directory's export. It is sent twice: as it came, and after
/// a READER has parsed it, since a thousand documents take some time.
/// From: the HTTP call, READER. To: IDENTITY.
struct export_page {
  uint64_t after = 0; ///< The number that was asked for.
  size_t lines = 0;
  bytes text{}; ///< Empty after it was parsed.
  bool read = false;
  /// Set when the answer was status 429: the wait that it asks for, if any.
  std::optional<std::chrono::seconds> limited = std::nullopt;
  result<std::vector<atproto::exported_operation>> operations{};
};

/// What the store has of the directory's export. From: READER. To: IDENTITY.
struct export_stored {
  storage::export_row place;
  std::vector<atproto::did> names; ///< The first DIDs in it.
};

/// The answer of a configured resolver for a handle.
enum class resolver_answer : uint8_t {
  not_asked,
  given, ///< The DID of the handle, or that there is none.
  none,  ///< No answer, or not one of a resolver.
};

/// The answer for a handle. From: the HTTP or DNS call. To: IDENTITY.
struct identity_handle {
  atproto::did repo;
  std::string handle;
  result<atproto::did> owner{};
  resolver_answer resolver = resolver_answer::not_asked;
};

} // namespace weir

#pragma once

#include "atproto/did_document.hpp"
#include "atproto/directory_export.hpp"
#include "base/clock.hpp"
#include "messages/repo.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weir {

/// From: REPO, SUPERVISOR, NODE, api. To: IDENTITY. Travels: local only.
struct identity_ask {
  atproto::did repo;
  bool fresh = false; ///< Resolve anew.
  identity_sink from;
  uint64_t number = 0; ///< Of the asker; comes back with each answer.
  /// Whose turn it takes: the site of the host whose stream makes it necessary,
  /// or another name for those who have it necessary together. Empty: that of
  /// the account's host.
  std::string by{};
  /// Nobody is told: NODE wants to see whether the directory answers. At once,
  /// however often it failed, but not while the directory limits us.
  bool probe = false;
};

/// What was asked for is necessary for others, too. From: REPO. To: IDENTITY.
/// Travels: local only.
struct identity_shared {
  atproto::did repo;
  std::string by;
};

/// From: READER. To: IDENTITY. Travels: local only.
struct identity_stored {
  atproto::did repo;
  std::optional<storage::identity_row> row;
  /// Without a row: what the directory's export says.
  std::optional<storage::identity_row> exported = std::nullopt;
};

/// From: the HTTP call. To: IDENTITY. Travels: local only.
struct identity_document {
  atproto::did repo;
  error failed;
  atproto::did_document doc;
  bool gone = false;
  /// When the directory answered, by its clock.
  std::optional<wall_time> date = std::nullopt;
  bool date_is_proved = false; ///< By TLS: it may say that our clock is right.
  /// Set when it answered 429: how long it asks us to wait, as far as it says.
  std::optional<std::chrono::seconds> limited = std::nullopt;
  /// Of a DID that is not registered: no directory says it in these words.
  bool is_foreign = false;
};

/// A page of the directory's export, first as it came, then read by a READER,
/// since a thousand documents are some work. From: the HTTP call, READER.
/// To: IDENTITY. Travels: local only.
struct export_page {
  uint64_t after = 0; ///< What was asked for.
  size_t lines = 0;
  bytes text{}; ///< Empty when it was read.
  bool read = false;
  error failed{};
  /// Set when it answered 429: how long it asks us to wait, as far as it says.
  std::optional<std::chrono::seconds> limited = std::nullopt;
  std::vector<atproto::exported_operation> operations{};
};

/// What the store has of the directory's export. From: READER. To: IDENTITY.
/// Travels: local only.
struct export_stored {
  storage::export_row place;
  std::vector<atproto::did> names; ///< The first ones of which it says something.
};

/// What a configured resolver said of a handle.
enum class resolver_answer : uint8_t {
  not_asked,
  given, ///< Whose it is, or that it is nobody's.
  none,  ///< Nothing came, or it is not the answer of a resolver.
};

/// From: the HTTP or DNS call. To: IDENTITY. Travels: local only.
struct identity_handle {
  atproto::did repo;
  std::string handle;
  error failed;
  atproto::did owner;
  resolver_answer resolver = resolver_answer::not_asked;
};

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::export_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::export_stored)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::identity_ask)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::identity_stored)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::identity_document)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::identity_handle)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::identity_shared)

#pragma once

#include "atproto/identifiers.hpp"
#include "base/error.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Bodies of the repository routes (SYNC-29 to SYNC-36). Tap's
/// `/repos/add` and `/repos/remove` are a part of them.
namespace weir::wire {

/// Body of `/repos/add`, `/repos/remove` and `/repos/resync`, as
/// `repos_request_reader` reads it.
struct repos_request {
  std::vector<atproto::did> dids; ///< Without duplicates, as given.
  std::vector<std::string>
    collections; ///< Filter of these repos; mostly empty.
};

/// Which repos are tracked without being added (SYNC-17 to 19).
enum class sync_mode : uint8_t { manual, signal, full_network };

/// "manual", "signal", "full-network".
std::string_view to_string(sync_mode x) noexcept;

std::optional<sync_mode> parse_sync_mode(std::string_view x) noexcept;

/// Body of `POST /config`: what is absent stays as it is.
struct config_change {
  std::optional<sync_mode> mode;
  std::optional<std::string> signal_collection; ///< Empty = none.
  std::optional<std::vector<std::string>> collections;
};

/// An unknown mode or key and a bad name or pattern are
/// `ec::invalid_argument`.
result<config_change> parse_config_change(std::string_view body);

/// `GET /config`. Borrows. `signal_collection` is the first of them or null;
/// when there are more, `signal_collections` lists them all.
struct config_view {
  sync_mode mode = sync_mode::manual;
  std::span<const std::string> signal_collections;
  std::span<const std::string> collections;
};

/// @param changed Answers a `POST`: leads with `"ok":true`.
void append_config(const config_view& x, bool changed, std::string& out);

/// One repo as SYNC-01 lists it. Borrows. Optional fields that are unset are
/// left out.
struct repo_view {
  std::string_view did;
  std::string_view status;
  atproto::tid rev;
  uint64_t record_count = 0;
  int64_t last_sync = 0; ///< Unix seconds.
  std::string_view error;
  uint32_t retry_count = 0;
  int64_t next_retry = 0; ///< Unix seconds.
  std::span<const std::string> collections;
  /// Whether the copy is whole; unset: the account is not active.
  std::optional<bool> complete{};
  std::string_view reason{};  ///< Why it is not, in words.
  std::string_view account{}; ///< Its state; empty: not told.
};

/// `GET /repos/:did`.
void append_repo(const repo_view& x, std::string& out);

/// `GET /repos` and `/repos/errors`: one page; no cursor, no further page.
void append_repos(std::span<const repo_view> repos, std::string_view cursor,
                  std::string& out);

} // namespace weir::wire

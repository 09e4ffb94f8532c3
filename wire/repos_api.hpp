#pragma once

#include "atproto/identifiers.hpp"
#include "base/error.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Bodies of the repository routes (SYNC-29 to 36). Tap's `/repos/add` and
/// `/repos/remove` are a subset of them.
namespace weir::wire {

/// Body of `/repos/add`, `/repos/remove` and `/repos/resync`.
/// `repos_request_reader` reads it.
struct repos_request {
  std::vector<atproto::did> dids; ///< In the order given, without duplicates.
  std::vector<std::string>
    collections; ///< Filter of these repos; usually empty.
};

/// Which repos are tracked without being added by hand (SYNC-17 to 19).
enum class sync_mode : uint8_t { manual, signal, full_network };

/// "manual", "signal", "full-network".
std::string_view to_string(sync_mode x) noexcept;

/// Body of `GET /config`. Borrows. `signal_collection` is the first one or
/// null; when there are more, `signal_collections` lists them all.
struct config_view {
  sync_mode mode = sync_mode::manual;
  std::span<const std::string> signal_collections;
  std::span<const std::string> collections;
};

void append_config(const config_view& x, std::string& out);

/// One repo with the fields of SYNC-01. Borrows. Optional fields without a
/// value are left out.
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
  /// Whether the copy is complete; unset when the account is not active.
  std::optional<bool> complete{};
  std::string_view reason{};  ///< Why it is not complete, in words.
  std::string_view account{}; ///< State of the account; left out when empty.
};

/// Body of `GET /repos/:did`.
void append_repo(const repo_view& x, std::string& out);

/// Body of `GET /repos` and `/repos/errors`: one page. The last page has no
/// cursor.
void append_repos(std::span<const repo_view> repos, std::string_view cursor,
                  std::string& out);

} // namespace weir::wire

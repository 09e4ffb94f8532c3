#pragma once

#include "apps/weir/web_client.hpp"
#include "atproto/identifiers.hpp"

#include <functional>
#include <optional>
#include <string>

namespace weir::apps {

/// What a host lists of one account.
struct listed_account {
  atproto::did repo;
  atproto::tid rev;
  bool active = true;
};

enum class host_standing : uint8_t {
  active,
  inactive, ///< Deactivated, suspended or taken down.
  absent,   ///< Unknown to the host, or deleted.
};

/// The accounts of a PDS or relay, as it reports them.
///
/// # Ownership and threads
/// Borrows the client. One thread.
///
/// # Limits
/// One page of `limits::listing_bytes_max` bytes at a time, and at most
/// `limits::listing_pages_max` pages.
class host_accounts {
public:
  /// @param origin Scheme, host and port.
  host_accounts(web_client& web, std::string origin);

  /// Visits everything in `listRepos` in the host's order. Lines that are no
  /// accounts are skipped. `ec::not_found` when the host has no such call.
  result<void> each(const std::function<void(const listed_account&)>& visit);

  /// Asks `getRepoStatus`.
  result<host_standing> standing_of(const atproto::did& repo);

private:
  web_client& web_;
  const std::string origin_;
};

/// What a refusal to serve a repo says of its account; nothing when it says
/// something else.
std::optional<host_standing> standing_in_refusal(int status,
                                                 std::string_view body);

} // namespace weir::apps

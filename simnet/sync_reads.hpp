#pragma once

#include "net/http_server.hpp"
#include "simnet/site.hpp"

#include <functional>
#include <optional>
#include <string_view>

/// Answers of com.atproto.sync and com.atproto.identity that hosts and relay
/// give alike; names and texts as a real PDS has them.
namespace weir::simnet {

/// An account as one server knows it.
using lens = std::function<std::optional<account_view>(const account_view&)>;

net::http_reply invalid_request(std::string_view message);

/// The integer parameter `name`, between 1 and `max`; `fallback` when absent or
/// unusable.
size_t size_parameter(const net::incoming_request& request,
                      std::string_view name, size_t fallback, size_t max);

/// The account of parameter `did`, or the refusal.
struct account_or_refusal {
  std::optional<account_view> account;
  net::http_reply refusal;
};

account_or_refusal find_account(const net::incoming_request& request,
                                const site& where, const lens& look);

/// The refusal of an account that is not served.
std::optional<net::http_reply> refuse_inactive(const account_view& x);

net::http_reply get_latest_commit(const account_view& x);
net::http_reply get_repo_status(const account_view& x);

/// Pages by account number. A cursor comes with every page that has entries,
/// also with the last one.
net::http_reply list_repos(const net::incoming_request& request,
                           const site& where, const lens& look);

net::http_reply list_repos_by_collection(const net::incoming_request& request,
                                         const site& where, const lens& look);

net::http_reply resolve_handle(const net::incoming_request& request,
                               const site& where);

/// `/.well-known/atproto-did` of the handle in the Host header.
net::http_reply well_known_did(const net::incoming_request& request,
                               const site& where);

net::http_reply health(const site& where);

} // namespace weir::simnet

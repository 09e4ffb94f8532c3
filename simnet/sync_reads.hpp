#pragma once

#include "net/http_server.hpp"
#include "simnet/site.hpp"

#include <boost/json/fwd.hpp>

#include <functional>
#include <optional>
#include <string_view>

/// Answers of com.atproto.sync and com.atproto.identity that hosts and the
/// relay share, and of com.atproto.repo. Names and texts are those of real
/// servers.
namespace weir::simnet {

/// An account as one server sees it.
using lens = std::function<std::optional<account_view>(const account_view&)>;

/// An answer of 200 with this JSON.
net::http_reply ok_reply(const boost::json::object& x);

net::http_reply invalid_request(std::string_view message);

/// The integer parameter `name`, between 1 and `max`; `fallback` when it is
/// absent or not usable.
size_t size_parameter(const net::incoming_request& request,
                      std::string_view name, size_t fallback, size_t max);

/// Tells a client how long to stay away, in whole seconds.
void add_retry_after(net::http_reply& to, std::chrono::milliseconds time);

/// The account of the parameter `did`, or the refusal.
struct account_or_refusal {
  std::optional<account_view> account;
  net::http_reply refusal;
};

account_or_refusal find_account(const net::incoming_request& request,
                                const site& where, const lens& look);

/// The refusal for an account that is not served.
std::optional<net::http_reply> refuse_inactive(const account_view& x);

net::http_reply get_latest_commit(const account_view& x);
net::http_reply get_repo_status(const account_view& x);

/// Pages in the order of account numbers. Every page with entries has a cursor,
/// even the last one.
net::http_reply list_repos(const net::incoming_request& request,
                           const site& where, const lens& look);

net::http_reply list_repos_by_collection(const net::incoming_request& request,
                                         const site& where, const lens& look);

net::http_reply resolve_handle(const net::incoming_request& request,
                               const site& where);

/// Answers `/.well-known/atproto-did` for the handle in the Host header.
net::http_reply well_known_did(const net::incoming_request& request,
                               const site& where);

net::http_reply health(const site& where);

// -- com.atproto.repo: records as JSON, for comparisons -----------------------

/// Finds the account by the DID or handle in the parameter `repo`.
net::http_reply describe_repo(const net::incoming_request& request,
                              const site& where, const lens& look);

/// Newest record key first, unless `reverse=true`.
net::http_reply list_records(const net::incoming_request& request,
                             const site& where, const lens& look);

net::http_reply get_record(const net::incoming_request& request,
                           const site& where, const lens& look);

} // namespace weir::simnet

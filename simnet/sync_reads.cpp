#include "simnet/sync_reads.hpp"

#include "base/parse_number.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <string>

namespace weir::simnet {

namespace {

namespace json = boost::json;

net::http_reply repo_error(std::string_view name, std::string_view what,
                           const atproto::did& id) {
  return net::error_reply(400, name, std::string{what} + id.str());
}

json::object describe(const account_view& x) {
  json::object out{{"did", x.id.str()},
                   {"head", x.head.to_text()},
                   {"rev", x.listed_rev.str()},
                   {"active", x.served()}};
  if (const auto* status = status_word(x.status))
    out["status"] = status;
  return out;
}

using describer
  = std::function<std::optional<json::object>(const account_view&)>;

/// One page of accounts. Those that `describe` skips do not count.
net::http_reply list(const net::incoming_request& request, const site& where,
                     size_t limit_max, const describer& describe) {
  size_t next = 0;
  if (const auto* cursor = request.parameter("cursor")) {
    const auto parsed = parse_number<size_t>(*cursor);
    if (!parsed)
      return invalid_request("Malformed cursor");
    next = *parsed;
  }
  const auto limit
    = std::min(size_parameter(request, "limit", 500, limit_max), limit_max);
  json::array repos;
  for (; next < where.facts.accounts() && repos.size() < limit; ++next)
    if (auto item = describe(where.facts.view(next)))
      repos.push_back(std::move(*item));
  json::object out;
  if (!repos.empty())
    out["cursor"] = std::to_string(next);
  out["repos"] = std::move(repos);
  return ok_reply(out);
}

/// The DID of a handle; deleted accounts have none.
std::optional<std::string> did_of(std::string_view handle, const site& where) {
  const auto index = where.facts.find_handle(handle);
  if (!index)
    return std::nullopt;
  const auto account = where.facts.view(*index);
  if (account.status == standing::deleted)
    return std::nullopt;
  return account.id.str();
}

} // namespace

net::http_reply ok_reply(const json::object& x) {
  return net::json_reply(200, json::serialize(x));
}

net::http_reply invalid_request(std::string_view message) {
  return net::error_reply(400, "InvalidRequest", message);
}

size_t size_parameter(const net::incoming_request& request,
                      std::string_view name, size_t fallback, size_t max) {
  const auto* text = request.parameter(name);
  const auto value = text ? parse_number<size_t>(*text) : std::nullopt;
  return value ? std::clamp<size_t>(*value, 1, max) : fallback;
}

void add_retry_after(net::http_reply& to, std::chrono::milliseconds time) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time);
  to.headers.push_back({"Retry-After", std::to_string(seconds.count())});
}

account_or_refusal find_account(const net::incoming_request& request,
                                const site& where, const lens& look) {
  const auto* did = request.parameter("did");
  if (!did || !atproto::valid_did(*did))
    return {std::nullopt, invalid_request("Error: Params must have the "
                                          "property \"did\" as a DID")};
  account_or_refusal out;
  if (const auto index = where.facts.find(*did))
    out.account = look(where.facts.view(*index));
  if (!out.account)
    out.refusal = repo_error("RepoNotFound", "Could not find repo for DID: ",
                             atproto::did::trusted(*did));
  return out;
}

std::optional<net::http_reply> refuse_inactive(const account_view& x) {
  switch (x.status) {
    case standing::active:
    case standing::tombstoned:
      return std::nullopt;
    case standing::takendown:
      return repo_error("RepoTakendown", "Repo has been takendown: ", x.id);
    case standing::suspended:
      return repo_error("RepoSuspended", "Repo has been suspended: ", x.id);
    case standing::deactivated:
      return repo_error("RepoDeactivated", "Repo has been deactivated: ", x.id);
    case standing::deleted:
      break;
  }
  return repo_error("RepoNotFound", "Could not find repo for DID: ", x.id);
}

net::http_reply get_latest_commit(const account_view& x) {
  if (auto refusal = refuse_inactive(x))
    return *refusal;
  return ok_reply({{"cid", x.head.to_text()}, {"rev", x.listed_rev.str()}});
}

net::http_reply get_repo_status(const account_view& x) {
  if (x.status == standing::deleted)
    return *refuse_inactive(x);
  json::object out{{"did", x.id.str()}, {"active", x.served()}};
  if (const auto* status = status_word(x.status))
    out["status"] = status;
  else
    out["rev"] = x.listed_rev.str();
  return ok_reply(out);
}

net::http_reply list_repos(const net::incoming_request& request,
                           const site& where, const lens& look) {
  return list(request, where, where.listing_lines_max,
              [&look](const account_view& x) -> std::optional<json::object> {
                const auto seen = look(x);
                return seen ? std::optional{describe(*seen)} : std::nullopt;
              });
}

net::http_reply list_repos_by_collection(const net::incoming_request& request,
                                         const site& where, const lens& look) {
  const auto* collection = request.parameter("collection");
  if (!collection || !atproto::valid_nsid(*collection))
    return invalid_request("Error: Params must have the property "
                           "\"collection\" as an NSID");
  const auto prefix = *collection + "/";
  const auto describe
    = [&](const account_view& x) -> std::optional<json::object> {
    const auto seen = look(x);
    bool found = false;
    if (seen && seen->served())
      where.facts.visit_records(x.index, prefix,
                                [&](const std::string& path, const record&) {
                                  found = path.starts_with(prefix);
                                  return false;
                                });
    return found ? std::optional{json::object{{"did", x.id.str()}}}
                 : std::nullopt;
  };
  return list(request, where, 2000, describe);
}

net::http_reply resolve_handle(const net::incoming_request& request,
                               const site& where) {
  const auto* handle = request.parameter("handle");
  if (!handle || !atproto::valid_handle(*handle))
    return invalid_request("Error: Params must have the property \"handle\"");
  const auto did = did_of(*handle, where);
  return did ? ok_reply({{"did", *did}})
             : invalid_request("Unable to resolve handle");
}

net::http_reply well_known_did(const net::incoming_request& request,
                               const site& where) {
  const auto* host = request.header("host");
  const auto handle = host ? host->substr(0, host->find(':')) : std::string{};
  const auto did = did_of(handle, where);
  net::http_reply out;
  out.status = did ? 200 : 404;
  out.content_type = "text/plain";
  const auto text = did.value_or("User not found");
  out.body = shared_bytes::copy_of(as_bytes(text));
  return out;
}

net::http_reply health(const site& where) {
  return ok_reply({{"version", where.version}});
}

} // namespace weir::simnet

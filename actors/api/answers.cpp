#include "actors/api/answers.hpp"

#include "actors/api/completeness_answers.hpp"
#include "actors/support/node_sums.hpp"
#include "actors/support/state_words.hpp"
#include "atproto/record_json.hpp"
#include "atproto/utf8.hpp"
#include "base/version.hpp"
#include "wire/problem.hpp"
#include "wire/tap.hpp"

namespace weir::actors {

namespace {

/// The place where people find the documentation.
constexpr auto documentation
  = "docs/api.md in the source, share/doc/weir/docs/api.md where weir is installed";

net::http_reply metrics_reply(const metrics_registry& metrics) {
  net::http_reply out;
  out.content_type = "text/plain; version=0.0.4";
  out.body = shared_bytes::copy_of(as_bytes(metrics.render()));
  return out;
}

/// @param verdict Must outlive the view.
wire::repo_view to_view(const all_stores::listed_row& x,
                        const completeness_verdict& verdict) {
  wire::repo_view out;
  out.did = x.repo.str();
  out.status = storage::to_string(x.row.status);
  out.account = account_word(x.row.account);
  if (x.chain != nullptr) {
    out.rev = x.chain->rev;
    out.record_count = x.chain->record_count;
  }
  out.last_sync = x.row.last_sync;
  out.error = x.row.error;
  out.retry_count = x.row.retry_count;
  out.next_retry = x.row.next_retry;
  out.collections = x.collections;
  out.complete = verdict.complete;
  out.reason = verdict.reason;
  return out;
}

/// @param cursor Of the next page; empty: this is the last one.
net::http_reply page_reply(const std::vector<all_stores::listed_row>& rows,
                           const api_environment& env,
                           const std::string& cursor) {
  std::vector<completeness_verdict> verdicts;
  verdicts.reserve(rows.size());
  std::vector<wire::repo_view> views;
  views.reserve(rows.size());
  for (const auto& x : rows) {
    verdicts.push_back(judge(env, x.row, x.chain.get()));
    views.push_back(to_view(x, verdicts.back()));
  }
  return written(wire::append_repos, views, cursor);
}

wire::tap_info to_info(const all_stores::listed_row& x,
                       std::optional<bool> complete) {
  wire::tap_info out;
  out.did = x.repo.str();
  out.handle = x.row.handle;
  out.status = storage::to_string(x.row.status);
  out.account = storage::to_string(x.row.account);
  if (x.chain != nullptr) {
    out.rev = x.chain->rev;
    out.records = x.chain->record_count;
  }
  out.error = x.row.error;
  out.retries = x.row.retry_count;
  out.complete = complete;
  return out;
}

net::http_reply cursors_reply(const api_environment& env) {
  const auto views = env.shared->upstreams.all();
  std::vector<wire::upstream_cursor> cursors;
  for (const auto& x : views)
    cursors.push_back({x.origin, x.cursor});
  return written(wire::append_cursors, cursors, "");
}

net::http_reply miss_reply(const route_miss& x, std::string_view path) {
  if (x.upgrade) {
    auto out = net::error_reply(
      426, "UpgradeRequired",
      "this is a WebSocket: connect to it with ws:// or wss://");
    out.headers.push_back({"Upgrade", "websocket"});
    return out;
  }
  if (!x.method.empty()) {
    auto out = net::error_reply(405, "MethodNotAllowed",
                                "this path takes " + std::string{x.method});
    out.headers.push_back(
      {"Allow", x.method == "GET" ? "GET, HEAD" : std::string{x.method}});
    return out;
  }
  if (x.plain)
    return net::error_reply(404, "NotFound",
                            std::string{path}
                              + " is no WebSocket; /channel of the data port is");
  return net::error_reply(404, "NotFound",
                          "there is nothing at " + std::string{path}
                            + "; every path, and its port, is in "
                            + documentation);
}

} // namespace

void append_text(std::string_view x, std::string& out) {
  atproto::append_json_string(atproto::valid_utf8(x) ? x : "(not UTF-8)", out);
}

net::http_reply problem(const error& x) {
  const auto kind = wire::kind_of(x.code);
  std::string body;
  wire::append_problem(kind.name, x.context, body);
  return net::json_reply(kind.status, body);
}

net::http_reply no_room_reply(const api_environment& env) {
  std::string why;
  for (const auto& x : env.shared->intake.reasons())
    why.append(why.empty() ? "" : "; ").append(x);
  return net::error_reply(503, "Unavailable", why);
}

net::http_reply count_reply(std::string_view name, uint64_t count) {
  return written(wire::append_count, name, count);
}

std::optional<net::http_reply>
refusal_of(const boost::system::result<matched_route, route_miss>& x,
           const net::incoming_request& request) {
  if (!x)
    return miss_reply(x.error(), request.path);
  auto how = unknown_parameter(*x->to, request);
  if (how.empty())
    return std::nullopt;
  return problem(fail(ec::invalid_argument, std::move(how)));
}

net::http_reply answer_now(action what, const api_environment& env) {
  switch (what) {
    case action::root:
      return net::json_reply(200, std::string{R"({"name":"weir","version":")"}
                                    + version()
                                    + R"(","documentation":")" + documentation
                                    + R"("})");
    case action::health:
    case action::live:
      return net::json_reply(200, R"({"status":"ok"})");
    case action::version:
      return net::json_reply(200, std::string{R"({"version":")"} + version()
                                    + "\"}");
    case action::get_config:
      return written(
        wire::append_config,
        wire::config_view{env.mode, env.signal_collections, env.collections});
    case action::repo_count:
      return count_reply("repo_count", repo_count(*env.shared));
    case action::record_count:
      return count_reply("record_count", record_count(*env.shared));
    case action::outbox_buffer:
      return outbox_reply(*env.shared);
    case action::resync_buffer:
      return count_reply("resync_buffer", env.waiting->value());
    case action::cursors:
      return cursors_reply(env);
    case action::metrics:
      return metrics_reply(env.shared->metrics);
    case action::ready:
      return ready_reply(env);
    case action::status:
      return status_reply(env);
    case action::short_status:
      return short_status_reply(env);
    default:
      return net::error_reply(500, "InternalServerError", "no such answer");
  }
}

net::http_reply repo_reply(const store_readers& store,
                           const api_environment& env,
                           const atproto::did& did, bool as_info) {
  auto rows = store.load_repo(did);
  if (!rows)
    return problem(rows.error());
  if (!rows->row)
    return net::error_reply(404, "RepoNotFound", did.str() + " is not tracked");
  const all_stores::listed_row line{did, *rows->row, rows->chain,
                                       std::move(rows->collections)};
  const auto verdict = judge(env, line.row, line.chain.get());
  if (as_info)
    return written(wire::append_tap_info, to_info(line, verdict.complete));
  return written(wire::append_repo, to_view(line, verdict));
}

net::http_reply repos_reply(const api_environment& env,
                            const page_request& page) {
  const auto rows = env.shared->stores.list_repos(page.after, page.limit);
  if (!rows)
    return problem(rows.error());
  const auto more = rows->size() == page.limit;
  return page_reply(*rows, env, more ? rows->back().repo.str() : std::string{});
}

net::http_reply errors_reply(const api_environment& env,
                             const page_request& page) {
  const auto found = env.shared->stores.list_status(
    storage::repo_status::error, {page.after_due, page.after}, page.limit);
  if (!found)
    return problem(found.error());
  return page_reply(found->repos, env,
                    found->end
                      ? std::string{}
                      : retry_cursor(found->last.due, found->last.repo));
}

net::http_reply document_reply(const atproto::did& repo,
                               const result<storage::identity_row>& fact) {
  if (fact && !fact->tombstoned)
    return written(wire::append_did_document,
                   wire::identity_view{repo.str(), fact->claimed_handle,
                                       fact->signing_key, fact->pds});
  const auto why = fact ? fail(ec::not_found, "it is gone") : fact.error();
  switch (why.code) {
    case ec::not_found:
      return net::error_reply(404, "DidNotFound",
                              repo.str() + " is not registered");
    case ec::rate_limited:
      return net::error_reply(429, "TooManyRequests", why.context);
    case ec::limit_reached:
      return net::error_reply(503, "Unavailable", why.context);
    case ec::malformed:
    case ec::invalid_argument:
    case ec::verification_failed:
      return net::error_reply(502, "DocumentInvalid", why.context);
    default:
      return net::error_reply(502, "DirectoryUnreachable", why.context);
  }
}

} // namespace weir::actors

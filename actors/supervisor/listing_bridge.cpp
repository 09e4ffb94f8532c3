#include "actors/supervisor/listing_bridge.hpp"

#include "actors/supervisor/holders_bridge.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/support/account_json.hpp"

#include <boost/json.hpp>
#include <caf/send.hpp>

namespace weir::actors {

namespace {

namespace json = boost::json;

std::string_view text_of(const json::object& from, std::string_view key) {
  const auto* x = from.if_contains(key);
  return x != nullptr && x->is_string() ? std::string_view{x->get_string()}
                                        : std::string_view{};
}

/// How long a host that is busy asks us to wait.
std::chrono::seconds wait_asked(const net::http_response& x) {
  if (x.status != 429 && x.status < 500)
    return {};
  return x.retry_after.value_or(
    x.rate_limit_reset.value_or(std::chrono::seconds{0}));
}

/// Leaves out lines that are not repos. A body that is not a listing is an
/// error.
void read_page(std::string_view body, const upstream_view& before,
               listing_page& out) {
  boost::system::error_code bad;
  const auto page = json::parse(body, bad);
  const auto* repos = bad || !page.is_object()
                        ? nullptr
                        : page.get_object().if_contains("repos");
  if (repos == nullptr || !repos->is_array()) {
    out.repos = fail(ec::malformed, "not a listing of repos");
    return;
  }
  if (repos->get_array().size() > limits::listing_page_max) {
    out.repos = fail(ec::limit_reached,
                     std::to_string(repos->get_array().size())
                       + " repos on one page");
    return;
  }
  for (const auto& line : repos->get_array()) {
    if (!line.is_object())
      continue;
    auto repo = atproto::did::parse(text_of(line.get_object(), "did"));
    const auto rev = atproto::tid::parse(text_of(line.get_object(), "rev"));
    if (repo && (rev || !out.collection.empty()))
      out.repos->push_back({std::move(*repo), rev ? *rev : atproto::tid{},
                           read_account_status(line.get_object()),
                           before.since_reset(), out.upstream,
                           {before.id, before.epoch, before.received}});
  }
  if (!repos->get_array().empty())
    out.cursor = text_of(page.get_object(), "cursor");
}

/// @param repo The text of the DID.
void ask_about(const net::http_client_ptr& client, const net::url& host,
               const wire::collection_filter& signal, context_ptr shared,
               const std::string& repo, const upstream_view& from,
               listing_page page, const supervisor_actor& to) {
  repo_listed line;
  line.repo = atproto::did::trusted(repo);
  line.account = storage::account_status::active;
  line.upstream = from.id;
  page.repos->push_back(std::move(line));
  page.cursor = repo; // Not empty: this is not the last page of a listing.
  find_holders(client, host, signal, std::move(shared),
               std::make_shared<holders_runs>(), true, std::move(page), to);
}

} // namespace

repo_lister make_repo_lister(net::http_client_ptr client, context_ptr shared,
                             wire::collection_filter signal) {
  return [client, shared, signal = std::move(signal),
          runs = std::make_shared<holders_runs>()](
           const upstream_view& upstream, const std::string& collection,
           const std::string& cursor, supervisor_actor to) {
    listing_page out;
    out.upstream = upstream.id;
    out.collection = collection;
    const auto before = shared->upstreams.find(upstream.id);
    auto target = net::parse_url(upstream.origin);
    if (!target) {
      out.repos = target.error();
      caf::anon_send(to, std::move(out));
      return;
    }
    if (collection == one_account)
      return ask_about(client, *target, signal, shared, cursor, before,
                       std::move(out), to);
    const auto each = !collection.empty() && !before.relay;
    const auto by_name = !collection.empty() && before.relay;
    std::string path
      = std::string{"/xrpc/com.atproto.sync."}
        + (by_name ? "listReposByCollection" : "listRepos") + "?limit="
        + std::to_string(each ? limits::described_page_asked
                              : limits::listing_page_asked);
    if (by_name)
      net::append_query(path, "collection", collection);
    if (!cursor.empty())
      net::append_query(path, "cursor", cursor);
    net::http_request request;
    request.target = target->with_target(std::move(path));
    request.limits.body_bytes_max = limits::listing_bytes_max;
    auto ask_each = [from = std::weak_ptr{client}, host = *target, signal,
                     shared, to, runs,
                     first = cursor.empty()](listing_page page) {
      if (const auto asked = from.lock())
        find_holders(asked, host, signal, shared, runs, first, std::move(page),
                     to);
    };
    client->get(std::move(request), [out, before, to, each, ask_each](
                                      result<net::http_response> x) mutable {
      if (x)
        out.retry_after = wait_asked(*x);
      if (!x)
        out.repos = x.error().code == ec::not_found // The host's own name.
                       ? fail(ec::unreachable, x.error().context)
                       : x.error();
      else if (x->status == 401 || x->status == 404 || x->status == 501)
        out.repos = fail(ec::not_found, "it is not offered: HTTP "
                                          + std::to_string(x->status));
      else if (x->status == 400)
        out.repos = fail(ec::malformed, "HTTP 400");
      else if (x->status != 200)
        out.repos
          = fail(ec::unreachable, "HTTP " + std::to_string(x->status));
      else
        read_page(as_text(x->body), before, out);
      if (each && out.repos)
        ask_each(std::move(out));
      else
        caf::anon_send(to, std::move(out));
    });
  };
}

} // namespace weir::actors

#include "actors/supervisor/host_bridges.hpp"

#include "actors/supervisor/holders_bridge.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_accounts.hpp"

#include <caf/send.hpp>

namespace weir::actors {

namespace {

std::optional<net::http_request> request_for(const account_answer& x,
                                             std::string path) {
  auto target = net::parse_url(x.pds);
  if (!target)
    return std::nullopt;
  net::append_query(path, "did", x.repo.str());
  net::http_request out;
  out.target = target->with_target(std::move(path));
  out.limits.body_bytes_max = limits::account_answer_bytes_max;
  return out;
}

/// Uses com.atproto.sync.getLatestCommit, which has the rev as well.
void ask_rev(net::http_client& client, account_answer known,
             supervisor_actor to) {
  auto request = request_for(known, "/xrpc/com.atproto.sync.getLatestCommit");
  client.get(std::move(*request),
             [known, to](const result<net::http_response>& x) mutable {
               read_latest_commit(as_host_answer(x), known);
               caf::anon_send(to, std::move(known));
             });
}

/// @param repo The text of the DID.
void ask_about(const std::string& repo, holders_question about,
               listing_page page) {
  repo_listed line;
  line.repo = atproto::did::trusted(repo);
  line.upstream = page.upstream;
  page.repos->push_back(std::move(line));
  page.cursor = repo; // Not empty: this is not the last page of a listing.
  about.runs = std::make_shared<holders_runs>();
  find_holders(std::move(about), true, std::move(page));
}

/// @param each One question for each account follows the page.
net::http_request listing_request(const net::url& host,
                                  const std::string& collection,
                                  const std::string& cursor, bool each) {
  const auto by_name = !collection.empty() && !each;
  std::string path
    = std::string{"/xrpc/com.atproto.sync."}
      + (by_name ? "listReposByCollection" : "listRepos") + "?limit="
      + std::to_string(each ? limits::described_page_asked
                            : limits::listing_page_asked);
  if (by_name)
    net::append_query(path, "collection", collection);
  if (!cursor.empty())
    net::append_query(path, "cursor", cursor);
  net::http_request out;
  out.target = host.with_target(std::move(path));
  out.limits.body_bytes_max = limits::listing_bytes_max;
  return out;
}

} // namespace

account_asker make_account_asker(net::http_client_ptr client) {
  return [client](const atproto::did& repo, const std::string& pds,
                  supervisor_actor to) {
    account_answer out;
    out.repo = repo;
    out.pds = pds;
    auto request = request_for(out, "/xrpc/com.atproto.sync.getRepoStatus");
    if (!request) {
      out.what = account_answer::kind::useless;
      caf::anon_send(to, std::move(out));
      return;
    }
    client->get(std::move(*request),
                [from = std::weak_ptr{client}, out,
                 to](const result<net::http_response>& x) mutable {
                  const auto ask = read_repo_status(as_host_answer(x), out);
                  const auto asked = from.lock();
                  if (asked && ask)
                    ask_rev(*asked, std::move(out), std::move(to));
                  else
                    caf::anon_send(to, std::move(out));
                });
  };
}

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
    holders_question about{client, *target, signal, shared, runs, to};
    if (collection == one_account)
      return ask_about(cursor, std::move(about), std::move(out));
    const auto each = !collection.empty() && !before.relay;
    auto take = [out, before, each, about, first = cursor.empty()](
                  const result<net::http_response>& x) mutable {
      read_listing(as_host_answer(x), before, out);
      if (!each || !out.repos)
        caf::anon_send(about.to, std::move(out));
      else if (!about.client.expired())
        find_holders(std::move(about), first, std::move(out));
    };
    client->get(listing_request(*target, collection, cursor, each),
                std::move(take));
  };
}

} // namespace weir::actors

#include "actors/supervisor/host_bridges.hpp"

#include "actors/supervisor/holders_bridge.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_accounts.hpp"
#include "actors/support/account_json.hpp"

#include <boost/json.hpp>
#include <caf/send.hpp>

namespace weir::actors {

// -- accounts -----------------------------------------------------------------

namespace {

namespace json = boost::json;
using kind = account_answer::kind;

void read_status(const json::object& body, account_answer& out) {
  const auto* active = body.if_contains("active");
  if (active == nullptr || !active->is_bool()
      || text_of(body, "did") != out.repo.str()) {
    out.what = kind::useless;
    return;
  }
  out.what = kind::told;
  out.account = read_account_status(body);
  if (const auto rev = atproto::tid::parse(text_of(body, "rev")))
    out.rev = *rev;
}

void read_refusal(const json::object& body, account_answer& out) {
  const auto account = account_of_error(text_of(body, "error"));
  if (!account) {
    out.what = kind::useless;
  } else if (*account == storage::account_status::deleted) {
    out.what = kind::not_found;
  } else {
    out.what = kind::told;
    out.account = *account;
  }
}

void read_answer(const net::http_response& x, account_answer& out) {
  if (x.status == 429 || x.status >= 500) {
    out.retry_after = x.wait();
    return;
  }
  const auto body = parse_object(as_text(x.body));
  const auto refused = x.status == 400 || x.status == 404;
  if (!body || (x.status != 200 && !refused))
    out.what = kind::useless;
  else if (refused)
    read_refusal(*body, out);
  else
    read_status(*body, out);
}

/// Whether the host calls the account active without naming its rev, or does
/// not offer this question.
bool lacks_rev(const account_answer& x) {
  return x.what == kind::useless
         || (x.what == kind::told && !x.rev.defined()
             && x.account == storage::account_status::active);
}

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

/// Reads an answer to getLatestCommit. A host that answers without a rev, or
/// refuses the question, will never name its rev, and then the repo may have to
/// be fetched. A host that is busy, away or behind another server's error page
/// did not answer at all.
void read_latest(const result<net::http_response>& x, account_answer& out) {
  const auto failed = [&out](std::chrono::seconds wait) {
    out.what = kind::failed;
    out.retry_after = wait;
  };
  if (!x)
    return failed({});
  const auto refused = x->status >= 400 && x->status < 500 && x->status != 408
                       && x->status != 429;
  if (refused || x->status == 501)
    return;
  if (x->status != 200)
    return failed(x->wait());
  boost::system::error_code bad;
  const auto body = json::parse(as_text(x->body), bad);
  if (bad)
    return failed({});
  if (!body.is_object())
    return;
  if (const auto rev
      = atproto::tid::parse(text_of(body.get_object(), "rev"))) {
    out.what = kind::told; // The status of what the host serves.
    out.rev = *rev;
  }
}

/// Uses com.atproto.sync.getLatestCommit, which has the rev as well.
void ask_rev(net::http_client& client, account_answer known,
             supervisor_actor to) {
  auto request = request_for(known, "/xrpc/com.atproto.sync.getLatestCommit");
  client.get(std::move(*request),
             [known, to](const result<net::http_response>& x) mutable {
               read_latest(x, known);
               caf::anon_send(to, std::move(known));
             });
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
      out.what = kind::useless;
      caf::anon_send(to, std::move(out));
      return;
    }
    client->get(std::move(*request),
                [from = std::weak_ptr{client}, out,
                 to](result<net::http_response> x) mutable {
                  if (x)
                    read_answer(*x, out);
                  const auto asked = from.lock();
                  if (asked && lacks_rev(out))
                    ask_rev(*asked, std::move(out), std::move(to));
                  else
                    caf::anon_send(to, std::move(out));
                });
  };
}

// -- listings -----------------------------------------------------------------

namespace {

/// Leaves out lines that are not repos. A body that is no listing is an error.
void read_page(std::string_view body, const upstream_view& before,
               listing_page& out) {
  const auto page = parse_object(body);
  const auto* repos = page ? page->if_contains("repos") : nullptr;
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
    out.cursor = text_of(*page, "cursor");
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

void take_answer(const result<net::http_response>& x,
                 const upstream_view& before, listing_page& out) {
  if (!x) {
    out.repos = x.error().code == ec::not_found // The host's own name.
                  ? fail(ec::unreachable, x.error().context)
                  : x.error();
    return;
  }
  if (x->status == 429 || x->status >= 500)
    out.retry_after = x->wait();
  const auto http = "HTTP " + std::to_string(x->status);
  if (x->status == 401 || x->status == 404 || x->status == 501)
    out.repos = fail(ec::not_found, "it is not offered: " + http);
  else if (x->status == 400)
    out.repos = fail(ec::malformed, http);
  else if (x->status != 200)
    out.repos = fail(ec::unreachable, http);
  else
    read_page(as_text(x->body), before, out);
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
    holders_question about{client, *target, signal, shared, runs, to};
    if (collection == one_account)
      return ask_about(cursor, std::move(about), std::move(out));
    const auto each = !collection.empty() && !before.relay;
    auto take = [out, before, each, about, first = cursor.empty()](
                  const result<net::http_response>& x) mutable {
      take_answer(x, before, out);
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

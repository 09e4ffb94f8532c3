#include "actors/supervisor/account_bridge.hpp"

#include "actors/supervisor/limits_accounts.hpp"
#include "actors/support/account_json.hpp"

#include <boost/json.hpp>
#include <caf/send.hpp>

namespace weir::actors {

namespace {

namespace json = boost::json;
using kind = account_answer::kind;

std::string_view text_of(const json::object& from, std::string_view key) {
  const auto* x = from.if_contains(key);
  return x != nullptr && x->is_string() ? std::string_view{x->get_string()}
                                        : std::string_view{};
}

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

std::chrono::seconds wait_of(const net::http_response& x) {
  return x.retry_after.value_or(
    x.rate_limit_reset.value_or(std::chrono::seconds{0}));
}

void read_answer(const net::http_response& x, account_answer& out) {
  if (x.status == 429 || x.status >= 500) {
    out.retry_after = wait_of(x);
    return;
  }
  boost::system::error_code bad;
  const auto body = json::parse(as_text(x.body), bad);
  const auto refused = x.status == 400 || x.status == 404;
  if (bad || !body.is_object() || (x.status != 200 && !refused))
    out.what = kind::useless;
  else if (refused)
    read_refusal(body.get_object(), out);
  else
    read_status(body.get_object(), out);
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
    return failed(wait_of(*x));
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

} // namespace weir::actors

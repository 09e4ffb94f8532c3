#include "actors/supervisor/account_bridge.hpp"

#include "actors/support/account_json.hpp"
#include "base/limits_accounts.hpp"

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

void read_answer(const net::http_response& x, account_answer& out) {
  if (x.status == 429 || x.status >= 500) {
    out.retry_after = x.retry_after.value_or(
      x.rate_limit_reset.value_or(std::chrono::seconds{0}));
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

} // namespace

account_asker make_account_asker(net::http_client_ptr client) {
  return [client](const atproto::did& repo, const std::string& pds,
                  supervisor_actor to) {
    account_answer out;
    out.repo = repo;
    out.pds = pds;
    auto target = net::parse_url(pds);
    if (!target) {
      out.what = kind::useless;
      caf::anon_send(to, std::move(out));
      return;
    }
    std::string path = "/xrpc/com.atproto.sync.getRepoStatus";
    net::append_query(path, "did", repo.str());
    net::http_request request;
    request.target = target->with_target(std::move(path));
    request.limits.body_bytes_max = limits::account_answer_bytes_max;
    client->get(std::move(request),
                [out, to](result<net::http_response> x) mutable {
                  if (x)
                    read_answer(*x, out);
                  caf::anon_send(to, std::move(out));
                });
  };
}

} // namespace weir::actors

#include "actors/supervisor/host_answers.hpp"

#include "actors/supervisor/limits.hpp"
#include "actors/support/account_json.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace weir::actors {

namespace {

using answer_kind = account_answer::kind;

void read_status(const boost::json::object& body, account_answer& out) {
  const auto* active = body.if_contains("active");
  if (active == nullptr || !active->is_bool()
      || text_of(body, "did") != out.repo.str())
    return;
  out.what = answer_kind::stated;
  out.account = read_account_status(body);
  if (const auto rev = atproto::tid::parse(text_of(body, "rev")))
    out.rev = *rev;
}

void read_refusal(const boost::json::object& body, account_answer& out) {
  const auto account = account_of_error(text_of(body, "error"));
  if (account == storage::account_status::deleted) {
    out.what = answer_kind::not_found;
  } else if (account) {
    out.what = answer_kind::stated;
    out.account = *account;
  }
}

void read_lines(std::string_view body, const upstream_view& before,
                listing_page& out) {
  const auto page = parse_object(body);
  const auto* repos = page ? page->if_contains("repos") : nullptr;
  if (repos == nullptr || !repos->is_array()) {
    out.repos = fail(ec::malformed, "not a listing of repos");
    return;
  }
  const auto& lines = repos->get_array();
  if (lines.size() > limits::listing_page_max) {
    out.repos = fail(ec::limit_reached,
                     std::to_string(lines.size()) + " repos on one page");
    return;
  }
  for (const auto& line : lines) {
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
  if (!lines.empty())
    out.cursor = text_of(*page, "cursor");
}

} // namespace

bool read_repo_status(const result<host_answer>& x, account_answer& out) {
  if (!x)
    return false;
  if (x->status == 429 || x->status >= 500) {
    out.retry_after = x->wait;
    return false;
  }
  const auto body = parse_object(x->body);
  out.what = answer_kind::useless;
  if (body && (x->status == 400 || x->status == 404))
    read_refusal(*body, out);
  else if (body && x->status == 200)
    read_status(*body, out);
  return out.what == answer_kind::useless
         || (out.what == answer_kind::stated && !out.rev.defined()
             && out.account == storage::account_status::active);
}

void read_latest_commit(const result<host_answer>& x, account_answer& out) {
  const auto failed = [&out](std::chrono::seconds wait) {
    out.what = answer_kind::failed;
    out.retry_after = wait;
  };
  if (!x)
    return failed({});
  const auto refused = x->status >= 400 && x->status < 500 && x->status != 408
                       && x->status != 429;
  if (refused || x->status == 501)
    return;
  if (x->status != 200)
    return failed(x->wait);
  boost::system::error_code bad;
  const auto body = boost::json::parse(x->body, bad);
  if (bad)
    return failed({});
  if (!body.is_object())
    return;
  if (const auto rev = atproto::tid::parse(text_of(body.get_object(), "rev"))) {
    out.what = answer_kind::stated; // The status of what the host serves.
    out.rev = *rev;
  }
}

void read_listing(const result<host_answer>& x, const upstream_view& before,
                  listing_page& out) {
  if (!x) {
    out.repos = x.error().code == ec::not_found // The host's own name.
                  ? fail(ec::unreachable, x.error().context)
                  : x.error();
    return;
  }
  if (x->status == 429 || x->status >= 500)
    out.retry_after = x->wait;
  const auto http = "HTTP " + std::to_string(x->status);
  if (x->status == 401 || x->status == 404 || x->status == 501)
    out.repos = fail(ec::not_found, "it is not offered: " + http);
  else if (x->status == 400)
    out.repos = fail(ec::malformed, http);
  else if (x->status != 200)
    out.repos = fail(ec::unreachable, http);
  else
    read_lines(x->body, before, out);
}

std::pair<holders_machine::answer, holders_run::said>
read_description(const result<host_answer>& x, const atproto::did& repo,
                 const wire::collection_filter& wanted) {
  using enum holders_machine::answer;
  using said = holders_run::said;
  if (!x)
    return {x.error().code == ec::limit_reached ? unclear : away,
            said::nothing};
  const auto is_wanted = [&wanted](const auto& name) {
    return name.is_string() && wanted.matches(name.get_string());
  };
  const auto status = x->status;
  const auto body = parse_object(x->body);
  const auto* names = body ? body->if_contains("collections") : nullptr;
  if (status == 200 && names != nullptr && names->is_array()
      && text_of(*body, "did") == repo.str())
    return {described, std::ranges::any_of(names->get_array(), is_wanted)
                         ? said::holds
                         : said::without};
  // Another 404 may come from a proxy, or from a host without this method.
  if ((status == 400 || status == 404) && body
      && account_of_error(text_of(*body, "error")))
    return {absent, said::absent};
  if (status == 408 || (status >= 502 && status <= 504))
    return {away, said::nothing};
  if (status == 401 || status == 404 || status == 501)
    return {refused, said::nothing};
  return {unclear, said::nothing};
}

} // namespace weir::actors

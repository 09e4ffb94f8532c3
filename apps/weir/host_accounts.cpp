#include "apps/weir/host_accounts.hpp"

#include "actors/supervisor/limits.hpp"
#include "atproto/json_fields.hpp"

#include <boost/json.hpp>

namespace weir::apps {

namespace {

namespace json = boost::json;
using atproto::text_at;

constexpr std::string_view xrpc = "/xrpc/com.atproto.sync.";

/// An absent member means active (protocol-coverage.md 9).
bool is_active(const json::object& from) {
  return atproto::truth_at(from, "active", true);
}

error refusal(const net::http_response& x) {
  return fail(ec::unreachable, "HTTP " + std::to_string(x.status));
}

} // namespace

host_accounts::host_accounts(web_client& web, std::string origin)
  : web_(web), origin_(std::move(origin)) {}

result<void>
host_accounts::each(const std::function<void(const listed_account&)>& visit) {
  std::string cursor;
  for (size_t page = 0; page < limits::listing_pages_max; ++page) {
    std::string path{xrpc};
    path += "listRepos?limit=1000";
    if (!cursor.empty())
      net::append_query(path, "cursor", cursor);
    const auto answer = web_.get(origin_ + path);
    if (!answer)
      return answer.error();
    if (answer->status == 401 || answer->status == 404 || answer->status == 501)
      return fail(ec::not_found, "it does not offer listRepos");
    if (answer->status != 200)
      return refusal(*answer);
    const auto body = atproto::parse_object(as_text(answer->body));
    const auto* repos = body ? atproto::array_at(*body, "repos") : nullptr;
    if (repos == nullptr)
      return fail(ec::malformed, "not an answer of listRepos");
    for (const auto& line : *repos) {
      if (!line.is_object())
        continue;
      const auto& each = line.get_object();
      auto repo = atproto::did::parse(text_at(each, "did"));
      const auto rev = atproto::tid::parse(text_at(each, "rev"));
      if (repo && rev)
        visit({std::move(*repo), *rev, is_active(each)});
    }
    std::string next{text_at(*body, "cursor")};
    if (next.empty() || repos->empty())
      return {};
    if (next == cursor)
      return fail(ec::malformed, "its listing goes in a circle");
    cursor = std::move(next);
  }
  return fail(ec::limit_reached, "its listing does not end");
}

result<host_standing> host_accounts::standing_of(const atproto::did& repo) {
  std::string path{xrpc};
  path += "getRepoStatus";
  net::append_query(path, "did", repo.str());
  const auto answer = web_.get(origin_ + path);
  if (!answer)
    return answer.error();
  if (const auto said
      = standing_in_refusal(answer->status, as_text(answer->body)))
    return *said;
  if (answer->status != 200)
    return refusal(*answer);
  const auto body = atproto::parse_object(as_text(answer->body));
  if (!body)
    return fail(ec::malformed, "the answer is no JSON object");
  if (is_active(*body))
    return host_standing::active;
  return text_at(*body, "status") == "deleted" ? host_standing::absent
                                               : host_standing::inactive;
}

std::optional<host_standing> standing_in_refusal(int status,
                                                 std::string_view body) {
  if (status == 200)
    return std::nullopt;
  if (status == 404 || body.find("RepoNotFound") != std::string_view::npos)
    return host_standing::absent;
  for (const std::string_view word :
       {"RepoDeactivated", "RepoSuspended", "RepoTakendown"})
    if (body.find(word) != std::string_view::npos)
      return host_standing::inactive;
  return std::nullopt;
}

} // namespace weir::apps

#include "apps/weir/host_accounts.hpp"

#include "actors/supervisor/limits.hpp"

#include <boost/json.hpp>

namespace weir::apps {

namespace {

namespace json = boost::json;

constexpr std::string_view xrpc = "/xrpc/com.atproto.sync.";

std::string_view text_of(const json::object& from, std::string_view key) {
  const auto* x = from.if_contains(key);
  return x != nullptr && x->is_string() ? std::string_view{x->get_string()}
                                        : std::string_view{};
}

/// An absent member means active (protocol-coverage.md 9).
bool is_active(const json::object& from) {
  const auto* x = from.if_contains("active");
  return x == nullptr || !x->is_bool() || x->get_bool();
}

result<json::object> parse_object(bytes_view body) {
  boost::system::error_code bad;
  auto value = json::parse(as_text(body), bad);
  if (bad || !value.is_object())
    return fail(ec::malformed, "the answer is no JSON object");
  return std::move(value.get_object());
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
    const auto body = parse_object(answer->body);
    const auto* repos = body ? body->if_contains("repos") : nullptr;
    if (repos == nullptr || !repos->is_array())
      return fail(ec::malformed, "not an answer of listRepos");
    for (const auto& line : repos->get_array()) {
      if (!line.is_object())
        continue;
      const auto& each = line.get_object();
      auto repo = atproto::did::parse(text_of(each, "did"));
      const auto rev = atproto::tid::parse(text_of(each, "rev"));
      if (repo && rev)
        visit({std::move(*repo), *rev, is_active(each)});
    }
    std::string next{text_of(*body, "cursor")};
    if (next.empty() || repos->get_array().empty())
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
  const auto body = parse_object(answer->body);
  if (!body)
    return body.error();
  if (is_active(*body))
    return host_standing::active;
  return text_of(*body, "status") == "deleted" ? host_standing::absent
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

#include "apps/weir/key_look_up.hpp"

#include "actors/identity/lookup_answers.hpp"
#include "actors/support/did_document_url.hpp"
#include "atproto/did_document.hpp"

namespace weir::apps {

namespace {

result<net::http_response> ask(web_client& web, const atproto::did& repo,
                               const std::string& directory) {
  const auto url = actors::did_document_url(repo, directory, true);
  if (!url)
    return url.error();
  return web.get(net::to_string(*url));
}

result<std::string> key_in(const net::http_response& answer,
                           const atproto::did& repo) {
  if (answer.status != 200)
    return fail(ec::unreachable, "HTTP " + std::to_string(answer.status));
  auto document = atproto::parse_did_document(as_text(answer.body), repo);
  if (!document)
    return document.error();
  return std::move(document->signing_key);
}

} // namespace

result<std::string> look_up_key(web_client& web, const atproto::did& repo,
                                const std::string& directory) {
  const auto answer = ask(web, repo, directory);
  if (!answer)
    return answer.error();
  return key_in(*answer, repo);
}

result<bool> has_tombstone(web_client& web, const atproto::did& repo,
                           const std::string& directory) {
  const auto answer = ask(web, repo, directory);
  if (!answer)
    return answer.error();
  if (actors::says_gone(repo, answer->status, as_text(answer->body)))
    return true;
  if (const auto key = key_in(*answer, repo); !key)
    return key.error();
  return false;
}

} // namespace weir::apps

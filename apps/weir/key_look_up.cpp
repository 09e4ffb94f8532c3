#include "apps/weir/key_look_up.hpp"

#include "actors/support/did_document_url.hpp"
#include "atproto/did_document.hpp"

namespace weir::apps {

result<std::string> look_up_key(web_client& web, const atproto::did& repo,
                                const std::string& directory) {
  const auto url = actors::did_document_url(repo, directory, true);
  if (!url)
    return url.error();
  const auto answer = web.get(net::to_string(*url));
  if (!answer)
    return answer.error();
  if (answer->status != 200)
    return fail(ec::unreachable, "HTTP " + std::to_string(answer->status));
  auto document = atproto::parse_did_document(as_text(answer->body), repo);
  if (!document)
    return document.error();
  return std::move(document->signing_key);
}

} // namespace weir::apps

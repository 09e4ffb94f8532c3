#include "actors/support/did_document_url.hpp"

namespace weir::actors {

namespace {

constexpr std::string_view plc = "did:plc:";
constexpr std::string_view web = "did:web:";

} // namespace

result<net::url> did_document_url(const atproto::did& repo,
                                  const std::string& directory,
                                  bool allow_private) {
  const std::string_view text = repo.str();
  if (text.starts_with(plc))
    return net::parse_url(directory + '/' + std::string{text});
  if (!text.starts_with(web))
    return fail(ec::invalid_argument, "unknown DID method");
  auto host = net::percent_decode(text.substr(web.size()));
  if (!host)
    return host.error();
  const auto plain = allow_private && host->starts_with("localhost");
  return net::parse_url((plain ? "http://" : "https://") + *host
                        + "/.well-known/did.json");
}

bool document_is_foreign(const atproto::did& repo) noexcept {
  return repo.str().starts_with(web);
}

} // namespace weir::actors

#include "actors/support/did_document_url.hpp"

namespace weir::actors {

namespace {

constexpr std::string_view plc = "did:plc:";
constexpr std::string_view web = "did:web:";
constexpr std::string_view local = "localhost%3A";
constexpr auto document_path = "/.well-known/did.json";

} // namespace

result<net::url> did_document_url(const atproto::did& repo,
                                  const std::string& directory,
                                  bool allow_private) {
  const std::string_view text = repo.str();
  if (text.starts_with(plc))
    return net::parse_url(directory + (directory.ends_with('/') ? "" : "/")
                          + std::string{text});
  if (!text.starts_with(web))
    return fail(ec::invalid_argument, "unknown DID method");
  // What follows is a host name, or this one form with a port: no escape in it
  // can begin a path.
  const auto host = text.substr(web.size());
  if (!atproto::supported_did(text))
    return fail(ec::malformed, "no host name in a did:web");
  if (!host.starts_with(local))
    return net::parse_url("https://" + std::string{host} + document_path);
  if (!allow_private)
    return fail(ec::invalid_argument, "a did:web on localhost");
  return net::parse_url("http://localhost:"
                        + std::string{host.substr(local.size())}
                        + document_path);
}

} // namespace weir::actors

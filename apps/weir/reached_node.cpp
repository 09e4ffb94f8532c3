#include "apps/weir/reached_node.hpp"

#include "apps/weir/load_settings.hpp"
#include "net/url.hpp"

#include <boost/json.hpp>

namespace weir::apps {

namespace {

/// The sentence of an error (docs/api.md); any other body as it is.
std::string sentence_of(const std::string& body) {
  boost::system::error_code bad;
  const auto x = boost::json::parse(body, bad);
  const auto* object = bad ? nullptr : x.if_object();
  const auto* message
    = object == nullptr ? nullptr : object->if_contains("message");
  return message != nullptr && message->is_string()
           ? std::string{message->as_string()}
           : body;
}

} // namespace

result<reached_node> reach_node(const std::string& address,
                                const node_port& port,
                                const std::string& password_file) {
  const auto x = net::parse_url(address);
  if (!x
      || !(address.starts_with("http://") || address.starts_with("https://"))
      || x->target != "/")
    return fail(ec::invalid_argument,
                "--node: \"" + net::without_user(address) + "\" is not the "
                  + port.name + " address of a node, such as " + port.address);
  reached_node out{x->origin(), web_client::make()};
  if (password_file.empty())
    return out;
  const auto secret
    = read_secret(password_file, "the node's is in the file that its "
                                 "admin_password_file names");
  if (!secret)
    return secret.error();
  out.client->set_password(*secret);
  return out;
}

result<std::string> body_of(const result<net::http_response>& x,
                            const node_port& port) {
  if (!x)
    return fail(x.error().code,
                "the node does not answer: " + to_string(x.error())
                  + "; is it running, and is --node its " + port.name
                  + " address?");
  std::string body{as_text(x->body)};
  if (x->status != 200)
    return fail(ec::unreachable,
                "the node answers " + std::to_string(x->status) + ": "
                  + sentence_of(body)
                  + (x->status == 401
                       ? "; give --admin-password-file FILE, the file that "
                         "admin_password_file of the node names"
                       : ""));
  return body;
}

} // namespace weir::apps

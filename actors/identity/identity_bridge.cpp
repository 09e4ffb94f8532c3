#include "actors/identity/identity_bridge.hpp"

#include "actors/support/did_document_url.hpp"
#include "actors/support/site.hpp"
#include "atproto/limits.hpp"
#include "messages/identity.hpp"
#include "net/retry_hints.hpp"

#include <boost/json.hpp>
#include <caf/send.hpp>

#include <set>

namespace weir::actors {

namespace {

using atproto::did;

std::string_view trimmed(std::string_view x) {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = x.find_first_not_of(blank);
  if (first == std::string_view::npos)
    return {};
  return x.substr(first, x.find_last_not_of(blank) - first + 1);
}

std::optional<wall_time> date_of(const net::http_headers& headers) {
  const auto* text = net::find_header(headers, "date");
  if (text == nullptr)
    return std::nullopt;
  const auto date = net::parse_http_date(*text);
  return date ? std::optional{wall_time{*date * 1'000'000}} : std::nullopt;
}

/// Whether HTTP alone serves it, not DNS (protocol-coverage.md 8.9).
bool served_by_http(std::string_view handle) noexcept {
  return handle.ends_with(".bsky.social");
}

/// Whether it can exist only in a test network (protocol-coverage.md 0.6).
bool is_for_tests(std::string_view handle) noexcept {
  return handle.ends_with(".test");
}

class lookups final : public identity_network,
                      public std::enable_shared_from_this<lookups> {
public:
  lookups(net::transport_ptr transport, net::http_client_ptr client,
          net::http_client_ptr directory, identity_network_options options)
    : transport_(std::move(transport)), client_(std::move(client)),
      directory_(std::move(directory)), options_(std::move(options)) {}

  void fetch_document(const did& repo, identity_actor to) override;

  void fetch_export(uint64_t after, size_t lines, identity_actor to) override;

  void resolve_handle(const did& repo, const std::string& handle,
                      identity_actor to) override;

private:
  void ask_resolver(identity_handle x, identity_actor to);
  void ask_dns(identity_handle x, identity_actor to);
  /// @param unknown Why DNS did not decide whether the handle exists.
  void ask_well_known(identity_handle x, identity_actor to, error unknown = {});

  net::transport_ptr transport_;
  net::http_client_ptr client_;
  net::http_client_ptr directory_;
  identity_network_options options_;
};

/// Whether the answer is no document of the DID at all. A directory that sends
/// such a thing has not answered as one, so this decides nothing about the DID.
bool is_no_document(ec x) noexcept {
  return x == ec::malformed || x == ec::verification_failed;
}

/// Whether the text is the one that a directory uses. Other services also
/// answer 404 for what they do not have.
bool says_not_registered(std::string_view body) {
  return body.find("not registered") != std::string_view::npos;
}

net::http_request small_request(net::url target, size_t body_max) {
  net::http_request out;
  out.target = std::move(target);
  out.limits.body_bytes_max = body_max;
  out.limits.total = limits::identity_timeout;
  return out;
}

/// Reads the owner from the well-known file of a handle's host.
result<did> owner_in_file(const result<net::http_response>& r) {
  if (!r)
    return r.error();
  if (r->status / 100 != 2)
    return fail(r->status / 100 == 5 ? ec::unreachable : ec::not_found,
                "HTTP " + std::to_string(r->status));
  auto owner = did::parse(trimmed(as_text(r->body)));
  if (!owner)
    return fail(ec::not_found, "no DID in the file");
  return std::move(*owner);
}

/// Reads a resolver's answer for `x.handle`.
void take_resolved(const result<net::http_response>& r, identity_handle& x) {
  x.resolver = resolver_answer::none;
  if (!r) {
    // For its own name nothing else follows.
    x.owner = fail(ec::unreachable, r.error().context);
    return;
  }
  const auto status = "HTTP " + std::to_string(r->status);
  boost::system::error_code bad;
  const auto body = boost::json::parse(as_text(r->body), bad);
  const auto is_away = r->status >= 500 || r->status == 429;
  const auto foreign = status + ", in words that no resolver uses";
  if (is_away || bad || !body.is_object()) {
    x.owner = fail(ec::unreachable, is_away ? status : foreign);
    return;
  }
  const auto member = [&body](std::string_view name) {
    const auto* text = body.get_object().if_contains(name);
    return text != nullptr && text->is_string()
             ? std::string_view{text->get_string()}
             : std::string_view{};
  };
  auto owner = did::parse(member("did"));
  const auto is_given = owner || r->status == 200 || r->status == 400
                        || member("error") == "HandleNotFound";
  if (is_given)
    x.resolver = resolver_answer::given;
  if (owner)
    x.owner = std::move(*owner);
  else
    x.owner = fail(ec::not_found, is_given ? "no such handle" : foreign);
}

/// What the directory, or the host of a did:web, says of a DID.
identity_document read_document(const did& repo,
                                const result<net::http_response>& x) {
  identity_document out;
  out.repo = repo;
  const auto is_plc = !document_is_foreign(repo);
  if (x && is_plc)
    out.date = date_of(x->headers);
  if (!x) {
    auto why = x.error();
    // A redirect, or a server without that name, decides nothing about it.
    if ((is_plc && why.code == ec::invalid_argument)
        || why.code == ec::not_found)
      why.code = ec::unreachable;
    out.doc = std::move(why);
  } else if (says_gone(repo, x->status, as_text(x->body))) {
    out.gone = true;
  } else if (x->status == 404) {
    out.is_foreign = is_plc && !says_not_registered(as_text(x->body));
    out.doc = fail(ec::not_found, out.is_foreign
                                    ? "the directory answers HTTP 404"
                                    : "the DID is not registered");
  } else if (x->status != 200) {
    out.doc = fail(ec::unreachable, "HTTP " + std::to_string(x->status));
    if (x->status == 429)
      out.limited = x->retry_after.value_or(std::chrono::seconds{0});
  } else {
    out.doc = atproto::parse_did_document(as_text(x->body), repo);
  }
  if (is_plc && !out.doc && is_no_document(out.doc.error().code))
    out.doc = fail(ec::unreachable, out.doc.error().context);
  return out;
}

void lookups::fetch_document(const did& repo, identity_actor to) {
  auto target
    = did_document_url(repo, options_.plc_url, options_.allow_private);
  if (!target)
    return caf::anon_send(to, identity_document{repo, target.error()});
  const auto is_plc = !document_is_foreign(repo);
  const auto is_proved = is_plc && target->secure();
  auto request = small_request(std::move(*target),
                               limits::did_document_bytes_max);
  const auto& client = is_plc ? directory_ : client_;
  client->get(std::move(request),
              [repo, to, is_proved](const result<net::http_response>& x) {
                auto out = read_document(repo, x);
                out.date_is_proved = is_proved;
                caf::anon_send(to, std::move(out));
              });
}

void lookups::fetch_export(uint64_t after, size_t lines, identity_actor to) {
  export_page out{after, lines};
  const auto origin = net::parse_url(options_.plc_url);
  if (!origin) {
    out.operations = origin.error();
    return caf::anon_send(to, std::move(out));
  }
  std::string path = "/export";
  net::append_query(path, "count", std::to_string(lines));
  net::append_query(path, "after", std::to_string(after));
  auto request = small_request(origin->with_target(std::move(path)),
                               limits::export_page_bytes_max);
  request.limits.total = limits::export_page_timeout;
  directory_->get(std::move(request), [out = std::move(out), to](
                                        result<net::http_response> x) mutable {
    if (!x) {
      out.operations = x.error();
    } else if (x->status != 200) {
      out.operations
        = fail(ec::unreachable, "HTTP " + std::to_string(x->status));
      if (x->status == 429)
        out.limited = x->retry_after.value_or(std::chrono::seconds{0});
    } else {
      out.text = std::move(x->body);
    }
    caf::anon_send(to, std::move(out));
  });
}

void lookups::resolve_handle(const did& repo, const std::string& handle,
                             identity_actor to) {
  identity_handle x{repo, handle};
  if (is_for_tests(handle) && !options_.allow_private) {
    x.owner = fail(ec::not_found, "a handle of a test network");
    return caf::anon_send(to, std::move(x));
  }
  if (!options_.handle_resolver_url.empty())
    ask_resolver(std::move(x), std::move(to));
  else if (served_by_http(handle))
    ask_well_known(std::move(x), std::move(to));
  else
    ask_dns(std::move(x), std::move(to));
}

void lookups::ask_resolver(identity_handle x, identity_actor to) {
  auto target = net::parse_url(options_.handle_resolver_url);
  if (!target) {
    x.owner = target.error();
    return caf::anon_send(to, std::move(x));
  }
  std::string path = "/xrpc/com.atproto.identity.resolveHandle";
  net::append_query(path, "handle", x.handle);
  directory_->get(small_request(target->with_target(std::move(path)),
                                limits::handle_body_bytes_max),
                  [x, to](const result<net::http_response>& r) mutable {
                    take_resolved(r, x);
                    caf::anon_send(to, std::move(x));
                  });
}

/// Asks DNS, and then the handle's own host (protocol-coverage.md 8.7).
void lookups::ask_dns(identity_handle x, identity_actor to) {
  transport_->resolve_txt(
    transport_->next_loop(), "_atproto." + x.handle,
    [self = shared_from_this(), x,
     to](result<std::vector<std::string>> values) mutable {
      std::set<std::string> found;
      if (values)
        for (const auto& value : *values)
          if (value.starts_with("did="))
            found.insert(value.substr(4));
      if (found.empty()) {
        const auto asked = values || values.error().code == ec::not_found;
        return self->ask_well_known(std::move(x), std::move(to),
                                    asked ? error{} : values.error());
      }
      auto owner = did::parse(*found.begin());
      if (found.size() > 1 || !owner)
        x.owner = fail(ec::not_found, "DNS names no single DID");
      else
        x.owner = std::move(*owner);
      caf::anon_send(to, std::move(x));
    });
}

void lookups::ask_well_known(identity_handle x, identity_actor to,
                             error unknown) {
  auto target = net::parse_url("https://" + x.handle
                               + "/.well-known/atproto-did");
  if (!target) {
    x.owner = fail(ec::not_found, "no such host");
    return caf::anon_send(to, std::move(x));
  }
  client_->get(small_request(std::move(*target), limits::handle_body_bytes_max),
               [x, to, unknown](result<net::http_response> r) mutable {
                 x.owner = owner_in_file(r);
                 if (!x.owner && x.owner.error().code == ec::not_found
                     && unknown.code != ec::none)
                   x.owner = unknown; // DNS may have the handle all the same.
                 caf::anon_send(to, std::move(x));
               });
}

} // namespace

std::shared_ptr<identity_network>
make_identity_network(net::transport_ptr transport, net::http_client_ptr client,
                      net::http_client_ptr directory,
                      identity_network_options options) {
  return std::make_shared<lookups>(std::move(transport), std::move(client),
                                   std::move(directory), std::move(options));
}

} // namespace weir::actors

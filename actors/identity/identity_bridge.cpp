#include "actors/identity/identity_bridge.hpp"

#include "actors/identity/lookup_answers.hpp"
#include "actors/support/did_document_url.hpp"
#include "actors/support/site.hpp"
#include "atproto/limits.hpp"
#include "net/retry_hints.hpp"

#include <caf/send.hpp>

namespace weir::actors {

namespace {

using atproto::did;

std::optional<wall_time> date_of(const net::http_headers& headers) {
  const auto* text = net::find_header(headers, "date");
  if (text == nullptr)
    return std::nullopt;
  const auto date = net::parse_http_date(*text);
  return date ? std::optional{wall_time{*date * 1'000'000}} : std::nullopt;
}

/// It shows the body of `x`, which must outlive it.
result<lookup_answer> answer_in(const result<net::http_response>& x) {
  if (!x)
    return x.error();
  return lookup_answer{x->status, as_text(x->body), x->retry_after,
                       date_of(x->headers)};
}

net::http_request small_request(net::url target, size_t body_max) {
  net::http_request out;
  out.target = std::move(target);
  out.limits.body_bytes_max = body_max;
  out.limits.total = limits::identity_timeout;
  return out;
}

class lookups final : public identity_network,
                      public std::enable_shared_from_this<lookups> {
public:
  lookups(net::transport_ptr transport, net::http_client_ptr client,
          net::http_client_ptr directory, identity_network_options options)
    : transport_(std::move(transport)), client_(std::move(client)),
      directory_(std::move(directory)), options_(std::move(options)) {}

  void fetch_document(const did& repo, identity_actor to) override {
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
                  auto out = document_in(repo, answer_in(x));
                  out.date_is_proved = is_proved;
                  caf::anon_send(to, std::move(out));
                });
  }

  void fetch_export(uint64_t after, size_t lines, identity_actor to) override {
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
    directory_->get(
      std::move(request), [out = std::move(out),
                           to](result<net::http_response> x) mutable {
        note_refusal(answer_in(x), out);
        if (out.operations)
          out.text = std::move(x->body);
        caf::anon_send(to, std::move(out));
      });
  }

  void resolve_handle(const did& repo, const std::string& handle,
                      identity_actor to) override {
    identity_handle x{repo, handle};
    switch (source_of(handle, !options_.handle_resolver_url.empty(),
                      options_.allow_private)) {
      case handle_source::none:
        x.owner = fail(ec::not_found, "a handle of a test network");
        return caf::anon_send(to, std::move(x));
      case handle_source::resolver:
        return ask_resolver(std::move(x), std::move(to));
      case handle_source::dns:
        return ask_dns(std::move(x), std::move(to));
      case handle_source::own_host:
        return ask_well_known(std::move(x), std::move(to));
    }
  }

private:
  void ask_resolver(identity_handle x, identity_actor to) {
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
                      take_resolved(answer_in(r), x);
                      caf::anon_send(to, std::move(x));
                    });
  }

  /// Asks DNS, and then the handle's own host (protocol-coverage.md 8.7).
  void ask_dns(identity_handle x, identity_actor to) {
    transport_->resolve_txt(
      transport_->next_loop(), "_atproto." + x.handle,
      [self = shared_from_this(), x,
       to](const result<std::vector<std::string>>& values) mutable {
        auto owner = owner_in_dns(values);
        if (!owner)
          return self->ask_well_known(std::move(x), std::move(to),
                                      values.error());
        x.owner = std::move(*owner);
        caf::anon_send(to, std::move(x));
      });
  }

  /// @param dns How the question to DNS failed, if it was asked and failed.
  void ask_well_known(identity_handle x, identity_actor to, error dns = {}) {
    auto target
      = net::parse_url("https://" + x.handle + "/.well-known/atproto-did");
    if (!target) {
      x.owner = fail(ec::not_found, "no such host");
      return caf::anon_send(to, std::move(x));
    }
    client_->get(small_request(std::move(*target),
                               limits::handle_body_bytes_max),
                 [x, to, dns](const result<net::http_response>& r) mutable {
                   x.owner = owner_in_file(answer_in(r), dns);
                   caf::anon_send(to, std::move(x));
                 });
  }

  net::transport_ptr transport_;
  net::http_client_ptr client_;
  net::http_client_ptr directory_;
  identity_network_options options_;
};

} // namespace

std::shared_ptr<identity_network>
make_identity_network(net::transport_ptr transport, net::http_client_ptr client,
                      net::http_client_ptr directory,
                      identity_network_options options) {
  return std::make_shared<lookups>(std::move(transport), std::move(client),
                                   std::move(directory), std::move(options));
}

} // namespace weir::actors

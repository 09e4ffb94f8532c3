#include "simnet/plc_service.hpp"

#include "simnet/did_documents.hpp"
#include "simnet/sync_reads.hpp"

#include <boost/json.hpp>

#include <cstdlib>
#include <string>

namespace weir::simnet {

namespace {

constexpr size_t export_lines_max = 1'000;
constexpr const char* export_name = "export";

/// An error in the directory's own form.
net::http_reply plc_error(int status, std::string_view what,
                          std::string_view did) {
  const auto message = std::string{what} + std::string{did};
  return net::json_reply(
    status, boost::json::serialize(boost::json::object{{"message", message}}));
}

net::http_reply gone(std::string_view did) {
  return plc_error(410, "DID not available: ", did);
}

} // namespace

void plc_service::on_request(net::incoming_request request,
                             net::responder answer) {
  const auto did = request.path.substr(1);
  if (did == export_name)
    site_.faults.note_export_page();
  else if (did.starts_with("did:"))
    site_.faults.note_document();
  const auto take = [this, &did](request_fault x) {
    return site_.faults.take(x, 0, did);
  };
  if (take(request_fault::directory_cut))
    return answer.cut();
  if (take(request_fault::directory_hang))
    return site_.time->after(std::chrono::hours{24}, [answer] {
      // nop: after this time the server itself answers.
    });
  if (take(request_fault::unavailable))
    return answer.send(plc_error(503, "Service Unavailable", {}));
  if (const auto x = take(request_fault::directory_limit)) {
    auto out = plc_error(429, "Too Many Requests", {});
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(x->time);
    out.headers.push_back({"Retry-After", std::to_string(seconds.count())});
    return answer.send(std::move(out));
  }
  const auto slow = take(request_fault::directory_delay);
  auto reply = answer_to(request);
  if (!slow)
    return answer.send(std::move(reply));
  site_.time->after(slow->time, [answer, reply = std::move(reply)] {
    answer.send(reply);
  });
}

net::http_reply
plc_service::answer_to(const net::incoming_request& request) const {
  if (request.method != "GET" && request.method != "HEAD")
    return plc_error(405, "Method Not Allowed", {});
  if (request.path == "/_health" || request.path == "/xrpc/_health")
    return health(site_);
  if (request.path == "/export")
    return export_lines(request);
  if (request.path == "/.well-known/atproto-did")
    return well_known_did(request, site_);
  if (request.path == "/xrpc/com.atproto.identity.resolveHandle")
    return resolve_handle(request, site_);
  return document(std::string_view{request.path}.substr(1));
}

net::http_reply plc_service::document(std::string_view did) const {
  const auto index = site_.facts.find(did);
  if (!index || site_.faults.take(request_fault::forgotten_document, 0, did))
    return plc_error(404, "DID not registered: ", did);
  if (site_.faults.take(request_fault::gone_document, 0, did))
    return gone(did);
  if (site_.faults.take(request_fault::wrong_document, 0, did))
    return document(site_.facts.view((*index + 1) % site_.facts.accounts()));
  if (const auto x = site_.faults.take(request_fault::stale_document, 0, did);
      x && *index < x->past->size())
    return document((*x->past)[*index]);
  return document(site_.facts.view(*index));
}

net::http_reply plc_service::document(const account_view& account) const {
  if (account.status == standing::tombstoned)
    return gone(account.id.str());
  auto out = net::json_reply(200, make_did_document(account, site_));
  out.content_type = "application/did+ld+json";
  return out;
}

/// The faults of the directory affect the export as well. Those ordered for an
/// account named "export" affect only the export: 404, 410, a page that ends
/// within a line, or a page without anything new since the last read.
net::http_reply
plc_service::export_lines(const net::incoming_request& request) const {
  if (site_.faults.take(request_fault::forgotten_document, 0, export_name))
    return plc_error(404, "Not Found", {});
  if (site_.faults.take(request_fault::gone_document, 0, export_name))
    return plc_error(410, "Gone", {});
  if (!site_.faults.take(request_fault::stale_document, 0, export_name))
    log_.catch_up();
  const auto* after = request.parameter("after");
  const auto count
    = size_parameter(request, "count", export_lines_max, export_lines_max);
  const auto is_number
    = after != nullptr && !after->empty()
      && after->find_first_not_of("0123456789") == std::string::npos;
  auto lines
    = is_number
        ? log_.lines_after(std::strtoull(after->c_str(), nullptr, 10), count)
        : log_.lines_after(after ? *after : std::string{}, count);
  if (site_.faults.take(request_fault::wrong_document, 0, export_name))
    lines = "{\"seq\":" + lines.substr(0, lines.size() / 2);
  auto out = net::json_reply(200, lines);
  out.content_type = "application/jsonlines";
  return out;
}

} // namespace weir::simnet

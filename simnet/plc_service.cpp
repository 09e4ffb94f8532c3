#include "simnet/plc_service.hpp"

#include "simnet/datetime.hpp"
#include "simnet/did_documents.hpp"
#include "simnet/sync_reads.hpp"

#include <boost/json.hpp>

#include <string>

namespace weir::simnet {

namespace {

/// The directory's own form of errors.
net::http_reply plc_error(int status, std::string_view what,
                          std::string_view did) {
  const auto message = std::string{what} + std::string{did};
  return net::json_reply(
    status, boost::json::serialize(boost::json::object{{"message", message}}));
}

} // namespace

void plc_service::on_request(net::incoming_request request,
                             net::responder answer) {
  const auto did = request.path.substr(1);
  if (site_.faults.take(request_fault::unavailable, 0, did))
    return answer.send(plc_error(503, "Service Unavailable", {}));
  answer.send(answer_to(request));
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
  if (!index)
    return plc_error(404, "DID not registered: ", did);
  const auto account = site_.facts.view(*index);
  if (account.status == standing::tombstoned)
    return plc_error(410, "DID not available: ", did);
  auto out = net::json_reply(200, make_did_document(account, site_));
  out.content_type = "application/did+ld+json";
  return out;
}

net::http_reply
plc_service::export_lines(const net::incoming_request& request) const {
  const auto* after = request.parameter("after");
  auto left = size_parameter(request, "count", 10, 1000);
  std::string lines;
  for (size_t i = 0; i < site_.facts.accounts() && left > 0; ++i) {
    const auto offset = static_cast<int64_t>(i) * 1000;
    const auto created = format_datetime({epoch_.micros + offset});
    if (after && created <= *after)
      continue;
    lines += make_export_line(site_.facts.view(i), site_, created);
    --left;
  }
  auto out = net::json_reply(200, lines);
  out.content_type = "application/jsonlines";
  return out;
}

} // namespace weir::simnet

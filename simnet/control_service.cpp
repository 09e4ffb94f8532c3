#include "simnet/control_service.hpp"

#include "atproto/json_fields.hpp"
#include "simnet/fault_json.hpp"
#include "simnet/sync_reads.hpp"

#include <boost/json.hpp>

#include <string>
#include <utility>

namespace weir::simnet {

namespace {

namespace json = boost::json;

/// The most events of one call. They are made before it is answered.
constexpr int64_t events_at_once_max = 100'000;

json::object describe(const expected_account& x) {
  json::object records;
  for (const auto& item : x.records)
    records[item.path] = item.id.to_text();
  return {{"did", x.account.id.str()},
          {"handle", x.account.handle},
          {"host", x.account.host},
          {"status", to_string(x.account.status)},
          {"rev", x.account.rev.str()},
          {"listedRev", x.account.listed_rev.str()},
          {"head", x.account.head.to_text()},
          {"data", x.account.data.to_text()},
          {"signingKey", x.account.signing_key},
          {"records", std::move(records)}};
}

json::object describe(const fault_record& x) {
  return {{"kind", to_string(x.kind)},
          {"count", x.count},
          {"dids", json::value_from(x.dids)}};
}

json::object describe(const event_log& x) {
  return {{"seq", x.newest()},
          {"frames", x.size()},
          {"subscribers", x.subscribers()}};
}

/// How often each order was carried out.
json::object describe(const request_faults& x) {
  json::object out;
  for (size_t i = 0; i < fault_kinds; ++i) {
    const auto kind = static_cast<fault_kind>(i);
    if (is_of_requests(kind))
      out[to_string(kind)] = x.served(kind);
  }
  return out;
}

json::array describe(const hostile_hosts& x) {
  json::array out;
  for (size_t i = x.first(); i < x.first() + x.size(); ++i) {
    const auto& did = x.of(i);
    out.push_back(json::object{{"host", i},
                               {"kind", to_string(*x.kind(i))},
                               {"downloads", did.downloads.load()},
                               {"bytes", did.bytes.load()},
                               {"claims", did.claims.load()},
                               {"pages", did.pages.load()},
                               {"frames", did.frames.load()}});
  }
  return out;
}

class control_service final : public net::http_service {
public:
  control_service(world& where, traffic& life, faults& trouble,
                  const request_faults& requests, const hostile_hosts& enemies,
                  const std::shared_ptr<pacer>& pace)
    : world_(where), traffic_(life), faults_(trouble), requests_(requests),
      enemies_(enemies), pacer_(pace) {}

  void on_request(net::incoming_request request,
                  net::responder answer) override {
    answer.send(request.method == "POST" ? write(request) : read(request));
  }

private:
  net::http_reply read(const net::incoming_request& request) {
    if (request.path == "/truth")
      return truth_page(request);
    if (request.path == "/stats")
      return stats();
    if (request.path == "/ledger")
      return ledger();
    return net::error_reply(404, "NotFound", "No such page");
  }

  net::http_reply write(const net::incoming_request& request) {
    const auto body = atproto::parse_object(request.body);
    if (!body)
      return invalid_request("The body is no JSON object");
    if (request.path == "/fault") {
      const auto wanted = read_fault(*body);
      if (!wanted)
        return invalid_request(wanted.error().context);
      const auto done = faults_.inject(*wanted);
      return done ? ok_reply(describe(*done))
                  : invalid_request(done.error().context);
    }
    if (request.path == "/traffic") {
      const auto* rate = body->if_contains("rate");
      json::error_code not_a_number;
      const auto value = rate ? rate->to_number<double>(not_a_number) : -1.0;
      if (not_a_number || !(value >= 0))
        return invalid_request("rate is a number from 0");
      pacer_->set_rate(value);
      return ok_reply({{"rate", value}});
    }
    const auto count = read_count(*body, "count", 1);
    if (!count || *count > events_at_once_max)
      return invalid_request("count is an integer from 0 to 100000");
    return make(request.path, atproto::text_at(*body, "did"),
                static_cast<size_t>(*count));
  }

  net::http_reply make(std::string_view path, std::string_view did,
                       size_t count) {
    if (path == "/accounts") {
      json::array dids;
      for (size_t i = 0; i < count; ++i)
        dids.push_back(json::value(world_.view(world_.add_account()).id.str()));
      return ok_reply({{"dids", std::move(dids)}});
    }
    if (path != "/commits")
      return net::error_reply(404, "NotFound", "No such page");
    if (did.empty())
      return ok_reply({{"made", traffic_.make(count)}});
    const auto index = world_.find(did);
    if (!index)
      return invalid_request("No such account");
    for (size_t i = 0; i < count; ++i)
      traffic_.post(*index);
    return ok_reply({{"made", count}});
  }

  net::http_reply truth_page(const net::incoming_request& request) {
    if (const auto* did = request.parameter("did")) {
      const auto index = world_.find(*did);
      return index ? ok_reply(describe(world_.expected(*index)))
                   : net::error_reply(404, "NotFound", "No such account");
    }
    const auto* cursor = request.parameter("cursor");
    size_t next = cursor && *cursor != "0"
                    ? size_parameter(request, "cursor", 0, SIZE_MAX)
                    : 0;
    const auto limit = size_parameter(request, "limit", 100, 1000);
    json::array accounts;
    for (; next < world_.accounts() && accounts.size() < limit; ++next)
      accounts.push_back(describe(world_.expected(next)));
    json::object out{{"accounts", std::move(accounts)}};
    if (next < world_.accounts())
      out["cursor"] = std::to_string(next);
    return ok_reply(out);
  }

  net::http_reply stats() {
    const auto made = traffic_.counts();
    const auto asked = requests_.directory();
    json::array streams;
    for (size_t i = 0; i < world_.hosts(); ++i)
      streams.push_back(describe(world_.host_log(i)));
    json::object out{
      {"accounts", world_.accounts()},
      {"rate", pacer_->rate()},
      {"behind", pacer_->behind()},
      {"traffic", json::object{{"events", made.events},
                               {"commits", made.commits},
                               {"operations", made.operations},
                               {"identities", made.identities},
                               {"accounts", made.accounts}}},
      {"injected", json::value_from(faults_.injected())},
      {"served", describe(requests_)},
      {"directory", json::object{{"documents", asked.documents},
                                 {"export_pages", asked.export_pages}}},
      {"hostile", describe(enemies_)},
      {"hosts", std::move(streams)}};
    if (const auto* relay = world_.relay_log())
      out["relay"] = describe(*relay);
    return ok_reply(out);
  }

  net::http_reply ledger() {
    json::array out;
    for (const auto& x : faults_.ledger())
      out.push_back(describe(x));
    return ok_reply({{"faults", std::move(out)}});
  }

  world& world_;
  traffic& traffic_;
  faults& faults_;
  const request_faults& requests_;
  const hostile_hosts& enemies_;
  const std::shared_ptr<pacer>& pacer_;
};

} // namespace

std::shared_ptr<net::http_service> make_control_service(
  world& where, traffic& life, faults& trouble, const request_faults& requests,
  const hostile_hosts& enemies, const std::shared_ptr<pacer>& pace) {
  return std::make_shared<control_service>(where, life, trouble, requests,
                                           enemies, pace);
}

} // namespace weir::simnet

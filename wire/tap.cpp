#include "wire/tap.hpp"

#include "atproto/record_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::wire {

namespace {

using atproto::append_json_string;

constexpr std::string_view unknown_handle = "handle.invalid";

void append_number(uint64_t x, std::string& out) {
  std::array<char, 20> text;
  const auto end = std::to_chars(text.begin(), text.end(), x).ptr;
  out.append(text.begin(), end);
}

/// @param name The name with its quotes and colon, and with what goes before.
void append_text(std::string_view name, std::string_view value,
                 std::string& out) {
  out += name;
  append_json_string(value, out);
}

void append_flag(std::string_view name, bool value, std::string& out) {
  out += name;
  out += value ? "true" : "false";
}

void append_handle(std::string_view name, std::string_view handle,
                   std::string& out) {
  append_text(name, atproto::valid_handle(handle) ? handle : unknown_handle,
              out);
}

/// One of the five words that clients accept. It agrees with `is_active`.
std::string_view known_status(const account_fact& x) {
  constexpr std::array<std::string_view, 4> words{"takendown", "suspended",
                                                  "deactivated", "deleted"};
  if (x.active)
    return "active";
  const auto i = std::find(words.begin(), words.end(), x.status);
  return i != words.end() ? *i : "deactivated";
}

/// Tap's words for the statuses that SYNC-02 names differently.
std::string_view state_of(const tap_info& x) {
  if (x.account != "active")
    return x.account;
  if (x.status == "synced")
    return "active";
  if (x.status == "syncing")
    return "resyncing";
  if (x.status == "desync")
    return "desynchronized";
  return x.status;
}

void append_value(const tap_record& x, std::string& out) {
  out += R"(,"cid":")";
  out += x.cid.to_text();
  out += '"';
  if (x.body.empty())
    return;
  const auto before = out.size();
  out += R"(,"record":)";
  const auto hazard = atproto::append_record_json(x.body, out);
  if (!hazard || *hazard != atproto::json_hazard::none)
    out.resize(before);
}

} // namespace

void append_tap_record(const tap_record& x, std::string& out) {
  out += R"({"id":)";
  append_number(x.id, out);
  append_flag(R"(,"type":"record","record":{"live":)", x.live, out);
  append_text(R"(,"did":)", x.did, out);
  out += R"(,"rev":")";
  out += x.rev.str();
  append_text(R"(","collection":)", x.collection, out);
  append_text(R"(,"rkey":)", x.rkey, out);
  out += R"(,"action":")";
  out += atproto::to_string(x.action);
  out += '"';
  if (x.action != atproto::op_action::remove)
    append_value(x, out);
  out += "}}";
}

void append_tap_identity(uint64_t id, std::string_view did,
                         const account_fact& x, std::string& out) {
  out += R"({"id":)";
  append_number(id, out);
  append_text(R"(,"type":"identity","identity":{"did":)", did, out);
  append_handle(R"(,"handle":)", x.handle, out);
  append_flag(R"(,"is_active":)", x.active, out);
  append_text(R"(,"status":)", known_status(x), out);
  out += "}}";
}

void append_tap_info(const tap_info& x, std::string& out) {
  append_text(R"({"did":)", x.did, out);
  append_handle(R"(,"handle":)", x.handle, out);
  append_text(R"(,"state":)", state_of(x), out);
  append_text(R"(,"rev":)", x.rev.defined() ? x.rev.str() : "", out);
  out += R"(,"records":)";
  append_number(x.records, out);
  if (!x.error.empty())
    append_text(R"(,"error":)", x.error, out);
  if (x.retries != 0) {
    out += R"(,"retries":)";
    append_number(x.retries, out);
  }
  if (x.complete)
    out += *x.complete ? R"(,"complete":true)" : R"(,"complete":false)";
  out += '}';
}

void append_did_document(const identity_view& x, std::string& out) {
  out += R"({"@context":["https://www.w3.org/ns/did/v1",)"
         R"("https://w3id.org/security/multikey/v1"])";
  append_text(R"(,"id":)", x.did, out);
  out += R"(,"alsoKnownAs":[)";
  if (!x.handle.empty())
    append_text("", "at://" + std::string{x.handle}, out);
  out += R"(],"verificationMethod":[)";
  if (!x.signing_key.empty()) {
    append_text(R"({"id":)", std::string{x.did} + "#atproto", out);
    append_text(R"(,"type":"Multikey","controller":)", x.did, out);
    append_text(R"(,"publicKeyMultibase":)", x.signing_key, out);
    out += '}';
  }
  out += R"(],"service":[)";
  if (!x.pds.empty()) {
    append_text(R"({"id":"#atproto_pds","type":"AtprotoPersonalDataServer",)"
                R"("serviceEndpoint":)",
                x.pds, out);
    out += '}';
  }
  out += "]}";
}

void append_count(std::string_view name, uint64_t count, std::string& out) {
  append_text("{", name, out);
  out += ':';
  append_number(count, out);
  out += '}';
}

void append_cursors(std::span<const upstream_cursor> upstreams,
                    std::string_view list_repos, std::string& out) {
  out += R"({"upstreams":[)";
  for (const auto& x : upstreams) {
    append_text(&x == upstreams.data() ? R"({"url":)" : R"(,{"url":)", x.url,
                out);
    out += R"(,"cursor":)";
    append_number(x.cursor, out);
    out += '}';
  }
  out += ']';
  if (!upstreams.empty() && upstreams.front().cursor != 0) {
    out += R"(,"firehose":)";
    append_number(upstreams.front().cursor, out);
  }
  if (!list_repos.empty())
    append_text(R"(,"list_repos":)", list_repos, out);
  out += '}';
}

} // namespace weir::wire

#include "wire/tap.hpp"

#include "atproto/json_fields.hpp"
#include "wire/json_object.hpp"
#include "wire/limits.hpp"
#include "wire/record_member.hpp"

#include <boost/json.hpp>

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

std::string_view known_handle(std::string_view x) {
  return atproto::valid_handle(x) ? x : unknown_handle;
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
  append_record_member(x.body, out);
}

/// The members of a fact about an account, each with a comma before it except
/// for the first.
void append_fact_members(const account_fact& x, std::string& out) {
  append_text(R"("handle":)", known_handle(x.handle), out);
  append_flag(R"(,"is_active":)", x.active, out);
  append_text(R"(,"status":)", known_status(x), out);
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
  out += ',';
  append_fact_members(x, out);
  out += "}}";
}

void append_account_fact(const account_fact& x, std::string& out) {
  out += '{';
  append_fact_members(x, out);
  out += '}';
}

void append_tap_info(const tap_info& x, std::string& out) {
  json_object to{out};
  to.text("did", x.did);
  to.text("handle", known_handle(x.handle));
  to.text("state", state_of(x));
  to.text("rev", x.rev.defined() ? x.rev.str() : "");
  to.number("records", x.records);
  to.text_if_any("error", x.error);
  if (x.retries != 0)
    to.number("retries", x.retries);
  to.flag_if_any("complete", x.complete);
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
  json_object{out}.number(name, count);
}

void append_cursors(std::span<const upstream_cursor> upstreams,
                    std::string_view list_repos, std::string& out) {
  json_object to{out};
  to.list("upstreams", upstreams,
          [](const upstream_cursor& x, std::string& text) {
            json_object upstream{text};
            upstream.text("url", x.url);
            upstream.number("cursor", x.cursor);
          });
  if (!upstreams.empty() && upstreams.front().cursor != 0)
    to.number("firehose", upstreams.front().cursor);
  to.text_if_any("list_repos", list_repos);
}

/// The JSON is `fact_json`'s (storage/format/account_fact.hpp).
result<account_fact> parse_account_fact(bytes_view text) {
  const auto object
    = atproto::parse_object(as_text(text), limits::json_depth_max, {});
  if (!object)
    return object.error();
  const auto* handle = object->if_contains("handle");
  const auto* active = object->if_contains("is_active");
  const auto* status = object->if_contains("status");
  if (handle == nullptr || !handle->is_string() || active == nullptr
      || !active->is_bool() || status == nullptr || !status->is_string())
    return fail(ec::malformed, "not the facts of an account");
  return account_fact{boost::json::value_to<std::string>(*handle),
                      active->get_bool(),
                      boost::json::value_to<std::string>(*status)};
}

} // namespace weir::wire

#include "atproto/directory_export.hpp"

#include "atproto/json_fields.hpp"
#include "atproto/limits.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace weir::atproto {

namespace {

namespace json = boost::json;

constexpr std::string_view did_key_scheme = "did:key:";

// -- the document of an operation ---------------------------------------------
// It is written as the directory writes it and then parsed like its answers, so
// that a look-up and the export give the same result.

json::object method(const did& owner, std::string_view name,
                    std::string_view key) {
  if (key.starts_with(did_key_scheme))
    key.remove_prefix(did_key_scheme.size());
  return {{"id", owner.str() + "#" + std::string{name}},
          {"type", "Multikey"},
          {"controller", owner.str()},
          {"publicKeyMultibase", std::string{key}}};
}

json::object service(std::string_view name, std::string_view type,
                     std::string_view endpoint) {
  return {{"id", "#" + std::string{name}},
          {"type", std::string{type}},
          {"serviceEndpoint", std::string{endpoint}}};
}

constexpr std::string_view at_scheme = "at://";
constexpr std::string_view http_schemes[]{"http://", "https://"};

/// Adds `at://` to a handle, as the directory does for an older operation.
std::string with_at(std::string_view handle) {
  if (handle.starts_with(at_scheme))
    return std::string{handle};
  for (const auto scheme : http_schemes)
    if (handle.starts_with(scheme))
      handle.remove_prefix(scheme.size());
  return std::string{at_scheme}.append(handle);
}

/// Adds `https://` to a host in the same way.
std::string with_http(std::string_view host) {
  const auto has = std::any_of(std::begin(http_schemes), std::end(http_schemes),
                               [&](auto x) {
                                 return host.starts_with(x);
                               });
  return has ? std::string{host} : "https://" + std::string{host};
}

json::object document_of(const did& owner) {
  return {{"id", owner.str()},
          {"alsoKnownAs", json::array{}},
          {"verificationMethod", json::array{}},
          {"service", json::array{}}};
}

/// The document of a `create`, the form of genesis operations before
/// `plc_operation`.
json::object first_form(const did& owner, const json::object& x) {
  auto out = document_of(owner);
  out["alsoKnownAs"].get_array().push_back(
    json::string{with_at(text_at(x, "handle"))});
  out["verificationMethod"].get_array().push_back(
    method(owner, "atproto", text_at(x, "signingKey")));
  out["service"].get_array().push_back(
    service("atproto_pds", "AtprotoPersonalDataServer",
            with_http(text_at(x, "service"))));
  return out;
}

json::object second_form(const did& owner, const json::object& x) {
  auto out = document_of(owner);
  if (const auto* names = array_at(x, "alsoKnownAs"))
    out["alsoKnownAs"] = *names;
  if (const auto* keys = object_at(x, "verificationMethods"))
    for (const auto& [name, key] : *keys)
      if (const auto* text = key.if_string())
        out["verificationMethod"].get_array().push_back(
          method(owner, {name.data(), name.size()}, std::string_view{*text}));
  if (const auto* services = object_at(x, "services"))
    for (const auto& [name, entry] : *services)
      if (const auto* y = entry.if_object())
        out["service"].get_array().push_back(service({name.data(), name.size()},
                                                     text_at(*y, "type"),
                                                     text_at(*y, "endpoint")));
  return out;
}

std::optional<did_document> read_document(const did& owner,
                                          const json::object& operation) {
  const auto type = text_at(operation, "type");
  if (type != "create" && type != "plc_operation")
    return std::nullopt; // A tombstone or an unknown kind.
  const auto text
    = json::serialize(type == "create" ? first_form(owner, operation)
                                       : second_form(owner, operation));
  auto out = parse_did_document(text, owner);
  if (!out)
    return std::nullopt;
  return std::move(*out);
}

std::optional<uint64_t> number_of(const json::object& x) {
  const auto* value = x.if_contains("seq");
  if (value == nullptr)
    return std::nullopt;
  json::error_code code;
  const auto out = value->to_number<uint64_t>(code);
  if (code || value->is_double())
    return std::nullopt;
  return out;
}

result<exported_operation> parse_line(std::string_view text, uint64_t after) {
  if (text.size() > limits::export_line_bytes_max)
    return fail(ec::malformed, "an operation of the export is too large");
  std::array<unsigned char, 4096> buffer;
  json::monotonic_resource memory{buffer.data(), buffer.size()};
  const auto line = parse_object(text, limits::did_document_depth_max, &memory);
  if (!line)
    return fail(ec::malformed, "a line of the export is no JSON object");
  const auto number = number_of(*line);
  if (!number)
    return fail(ec::malformed, "operations of the export have no numbers");
  if (*number <= after)
    return fail(ec::malformed, "operations of the export are out of order");
  auto repo = did::parse(text_at(*line, "did"));
  const auto* operation = object_at(*line, "operation");
  const auto id = text_at(*line, "cid");
  if (!repo || !repo->str().starts_with("did:plc:") || !operation || id.empty())
    return fail(ec::malformed, "a line of the export is no operation");
  exported_operation out;
  out.number = *number;
  out.id = std::string{id};
  out.doc = read_document(*repo, *operation);
  out.repo = std::move(*repo);
  return out;
}

} // namespace

result<std::vector<exported_operation>> parse_export_page(std::string_view text,
                                                          uint64_t after) {
  std::vector<exported_operation> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    if (out.size() == limits::export_page_lines)
      return fail(ec::malformed, "a page of the export is too long");
    auto operation = parse_line(line, after);
    if (!operation)
      return operation.error();
    after = operation->number;
    out.push_back(std::move(*operation));
  }
  return out;
}

} // namespace weir::atproto

#include "atproto/did_document.hpp"

#include "atproto/json_fields.hpp"
#include "atproto/limits.hpp"
#include "base/parse_number.hpp"

#include <boost/json.hpp>

#include <array>

namespace weir::atproto {

namespace {

namespace json = boost::json;

// -- the text -----------------------------------------------------------------

/// Counts the members of all objects in `x`. The parser limited its depth.
size_t count_members(const json::value& x) {
  size_t n = 0;
  if (const auto* array = x.if_array())
    for (const auto& item : *array)
      n += count_members(item);
  if (const auto* object = x.if_object())
    for (const auto& member : *object)
      n += 1 + count_members(member.value());
  return n;
}

/// Counts the members that are written in `text`, repeated ones included, by
/// its colons outside of strings.
/// @pre `text` is JSON
size_t count_written_members(std::string_view text) noexcept {
  size_t n = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      in_string = !in_string;
    else if (in_string && text[i] == '\\')
      ++i;
    else if (!in_string && text[i] == ':')
      ++n;
  }
  return n;
}

/// Parses within the limits. A document that names a member twice is refused,
/// since readers differ in which of the two they use.
result<json::value> parse_json(std::string_view text,
                               json::storage_ptr memory) {
  if (text.size() > limits::did_document_bytes_max)
    return fail(ec::limit_reached, "DID document too large");
  json::parse_options options;
  options.max_depth = limits::did_document_depth_max;
  json::error_code code;
  auto out
    = json::parse({text.data(), text.size()}, code, std::move(memory), options);
  if (code == json::error::too_deep)
    return fail(ec::limit_reached, "DID document nested too deep");
  if (code)
    return fail(ec::malformed, "DID document is not JSON: " + code.message());
  if (count_members(out) != count_written_members(text))
    return fail(ec::invalid_argument, "DID document names a member twice");
  return out;
}

// -- members ------------------------------------------------------------------

/// The items of a member; empty when it is absent or no array.
const json::array& items_of(const json::object& x, std::string_view name) {
  static const json::array none;
  const auto* array = array_at(x, name);
  return array ? *array : none;
}

/// True for `#name`, alone or after the DID.
bool names_fragment(std::string_view id, const did& owner,
                    std::string_view fragment) {
  if (id.starts_with(owner.str()))
    id.remove_prefix(owner.str().size());
  return id == fragment;
}

/// The first object with that id for which `belongs` is true.
template <class Predicate>
const json::object* find_entry(const json::array& entries, const did& owner,
                               std::string_view fragment, Predicate belongs) {
  for (const auto& entry : entries)
    if (const auto* x = entry.if_object();
        x && names_fragment(text_at(*x, "id"), owner, fragment) && belongs(*x))
      return x;
  return nullptr;
}

// -- what the engine takes ----------------------------------------------------

std::string lower_case(std::string_view x) {
  std::string out{x};
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string claimed_handle(const json::object& document) {
  constexpr std::string_view scheme = "at://";
  for (const auto& entry : items_of(document, "alsoKnownAs")) {
    const auto* text = entry.if_string();
    if (text && std::string_view{*text}.starts_with(scheme))
      if (const auto name = std::string_view{*text}.substr(scheme.size());
          valid_handle(name))
        return lower_case(name);
  }
  return {};
}

/// The first `#atproto` entry that this DID controls decides, even when it is
/// not usable.
std::string signing_key(const json::object& document, const did& owner) {
  const auto* method
    = find_entry(items_of(document, "verificationMethod"), owner, "#atproto",
                 [&](const auto& x) {
                   return text_at(x, "controller") == owner.str();
                 });
  if (!method)
    return {};
  const auto type = text_at(*method, "type");
  const auto text = text_at(*method, "publicKeyMultibase");
  const auto key = [&]() -> result<public_key> {
    if (type == "Multikey")
      return public_key::from_multikey(text);
    if (type == "EcdsaSecp256k1VerificationKey2019")
      return public_key::from_legacy(curve::k256, text);
    if (type == "EcdsaSecp256r1VerificationKey2019")
      return public_key::from_legacy(curve::p256, text);
    return fail(ec::malformed, "key of an unknown type");
  }();
  return key ? key->to_multikey() : std::string{};
}

/// True for a host name, an IPv4 address, or an IPv6 address in brackets.
bool valid_host(std::string_view x) {
  if (x.starts_with('[') && x.ends_with(']'))
    return x.size() > 2
           && x.substr(1, x.size() - 2).find_first_not_of("0123456789abcdef:.")
                == std::string_view::npos;
  return !x.empty() && x.size() <= limits::handle_bytes_max
         && !x.starts_with('.') && !x.ends_with('.')
         && x.find("..") == std::string_view::npos
         && x.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_")
              == std::string_view::npos;
}

/// The canonical `scheme://host[:port]` of a URL; empty when it is no such URL.
std::string origin_of(std::string_view endpoint) {
  const auto url = lower_case(endpoint);
  std::string_view rest = url;
  const bool secure = rest.starts_with("https://");
  if (!secure && !rest.starts_with("http://"))
    return {};
  const std::string_view scheme = secure ? "https://" : "http://";
  rest.remove_prefix(scheme.size());
  if (rest.ends_with('/'))
    rest.remove_suffix(1);
  const auto bracket = rest.rfind(']');
  const auto colon = rest.find(':', bracket == rest.npos ? 0 : bracket);
  const auto host = rest.substr(0, colon);
  if (!valid_host(host))
    return {};
  auto out = std::string{scheme}.append(host);
  if (colon == rest.npos)
    return out;
  const auto port = parse_number<uint16_t>(rest.substr(colon + 1));
  if (port.value_or(0) == 0)
    return {};
  if (*port != (secure ? 443 : 80))
    out += ":" + std::to_string(*port);
  return out;
}

std::string pds_origin(const json::object& document, const did& owner) {
  const auto* service = find_entry(items_of(document, "service"), owner,
                                   "#atproto_pds", [](const auto&) {
                                     return true;
                                   });
  if (!service || text_at(*service, "type") != "AtprotoPersonalDataServer")
    return {};
  return origin_of(text_at(*service, "serviceEndpoint"));
}

} // namespace

result<did_document> parse_did_document(std::string_view text,
                                        const did& expected) {
  std::array<unsigned char, 4096> buffer;
  json::monotonic_resource memory{buffer.data(), buffer.size()};
  const auto value = parse_json(text, &memory);
  if (!value)
    return value.error();
  const auto* document = value->if_object();
  if (!document)
    return fail(ec::malformed, "DID document is not an object");
  if (text_at(*document, "id") != expected.str() || expected.empty())
    return fail(ec::verification_failed, "DID document of another DID");
  for (const auto* name : {"alsoKnownAs", "verificationMethod", "service"})
    if (items_of(*document, name).size() > limits::did_document_entries_max)
      return fail(ec::limit_reached,
                  std::string{"DID document has too many of "} + name);
  return did_document{expected, claimed_handle(*document),
                      signing_key(*document, expected),
                      pds_origin(*document, expected)};
}

} // namespace weir::atproto

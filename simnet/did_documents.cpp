#include "simnet/did_documents.hpp"

#include "atproto/base_encodings.hpp"

#include <boost/json.hpp>
#include <openssl/ec.h>
#include <openssl/obj_mac.h>

#include <memory>

namespace weir::simnet {

namespace {

namespace json = boost::json;

constexpr uint8_t k256_prefix = 0xe7;
constexpr size_t prefix_size = 2;

/// A key in the older form: the bare point, not compressed.
struct legacy_key {
  const char* type = nullptr;
  std::string multibase;
};

legacy_key make_legacy_key(const std::string& multikey) {
  const auto raw = atproto::decode_base58(multikey.substr(1)).value_or(bytes{});
  if (raw.size() <= prefix_size)
    return {};
  const auto k256 = raw.front() == k256_prefix;
  using group_ptr = std::unique_ptr<EC_GROUP, decltype(&EC_GROUP_free)>;
  using point_ptr = std::unique_ptr<EC_POINT, decltype(&EC_POINT_free)>;
  const group_ptr group{
    EC_GROUP_new_by_curve_name(k256 ? NID_secp256k1 : NID_X9_62_prime256v1),
    &EC_GROUP_free};
  const point_ptr point{EC_POINT_new(group.get()), &EC_POINT_free};
  bytes out(65);
  if (EC_POINT_oct2point(group.get(), point.get(), raw.data() + prefix_size,
                         raw.size() - prefix_size, nullptr)
        != 1
      || EC_POINT_point2oct(group.get(), point.get(),
                            POINT_CONVERSION_UNCOMPRESSED, out.data(),
                            out.size(), nullptr)
           != out.size())
    return {};
  return {k256 ? "EcdsaSecp256k1VerificationKey2019"
               : "EcdsaSecp256r1VerificationKey2019",
          "z" + atproto::encode_base58(out)};
}

json::object verification_method(const account_view& x, bool legacy) {
  const auto& did = x.id.str();
  if (!legacy)
    return {{"id", did + "#atproto"},
            {"type", "Multikey"},
            {"controller", did},
            {"publicKeyMultibase", x.signing_key}};
  const auto key = make_legacy_key(x.signing_key);
  return {{"id", "#atproto"},
          {"type", key.type},
          {"controller", did},
          {"publicKeyMultibase", key.multibase}};
}

} // namespace

std::string make_did_document(const account_view& x, const site& where) {
  json::array context{"https://www.w3.org/ns/did/v1"};
  if (!where.legacy_documents)
    context.push_back("https://w3id.org/security/multikey/v1");
  context.push_back("https://w3id.org/security/suites/secp256k1-2019/v1");
  const json::object service{{"id", "#atproto_pds"},
                             {"type", "AtprotoPersonalDataServer"},
                             {"serviceEndpoint", where.host_urls[x.host]}};
  return json::serialize(
    json::object{{"@context", std::move(context)},
                 {"id", x.id.str()},
                 {"alsoKnownAs", json::array{"at://" + x.handle}},
                 {"verificationMethod",
                  json::array{verification_method(x, where.legacy_documents)}},
                 {"service", json::array{service}}});
}

json::object make_operation(const account_view& x, const site& where,
                            const std::string& before) {
  if (x.status == standing::tombstoned)
    return {{"type", "plc_tombstone"}, {"prev", before}};
  const auto key = "did:key:" + x.signing_key;
  const json::object pds{{"type", "AtprotoPersonalDataServer"},
                         {"endpoint", where.host_urls[x.host]}};
  json::object out{{"type", "plc_operation"},
                   {"rotationKeys", json::array{key}},
                   {"verificationMethods", json::object{{"atproto", key}}},
                   {"alsoKnownAs", json::array{"at://" + x.handle}},
                   {"services", json::object{{"atproto_pds", pds}}}};
  out["prev"]
    = before.empty() ? json::value{nullptr} : json::value{json::string{before}};
  return out;
}

} // namespace weir::simnet

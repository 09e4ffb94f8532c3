#include "atproto/base_encodings.hpp"
#include "atproto/signature.hpp"
#include "json_vectors.hpp"
#include "tests/support/foreign_forms.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>

// protocol-coverage.md section 7 against the interoperability fixtures and
// Wycheproof.

namespace weir::atproto {

namespace {

namespace json = boost::json;
using tests::read_json;
using tests::text_of;

bytes base64_of(const json::value& x, const char* name) {
  return decode_base64(text_of(x, name)).value();
}

bytes hex_of(const json::value& x, const char* name) {
  return tests::decode_hex(text_of(x, name)).value();
}

/// (n - 1) / 2 of each curve, from protocol-coverage.md 7.
bytes low_s_max(curve which) {
  return tests::decode_hex(which == curve::k256 ? "7fffffffffffffffffffffffffffffff"
                                           "5d576e7357a4501ddfe92f46681b20a0"
                                         : "7fffffff800000007fffffffffffffff"
                                           "de737d56d38bcf4279dce5617e3192a8")
    .value();
}

bool has_high_s(curve which, const bytes& sig) {
  return sig.size() == 64
         && bytes(sig.begin() + 32, sig.end()) > low_s_max(which);
}

/// Runs a Wycheproof file. Signatures with a high s are valid in the file and
/// are refused here.
void run_wycheproof(const std::filesystem::path& path, curve which,
                    std::map<std::string, int> expected) {
  std::map<std::string, int> seen;
  const auto file = read_json(path);
  for (const auto& group : file.at("testGroups").as_array()) {
    const auto point = hex_of(group.at("publicKey"), "uncompressed");
    const auto key = public_key::from_point(which, point);
    ASSERT_TRUE(key) << key.error().context;
    for (const auto& test : group.at("tests").as_array()) {
      const auto sig = hex_of(test, "sig");
      auto result = text_of(test, "result");
      if (result == "valid" && has_high_s(which, sig))
        result = "valid but high s";
      ++seen[result];
      EXPECT_EQ(key->verify(hex_of(test, "msg"), sig), result == "valid")
        << "tcId " << test.at("tcId") << ": " << text_of(test, "comment");
    }
  }
  EXPECT_EQ(seen, expected);
}

} // namespace

// protocol-coverage.md 7.2
TEST(CryptoVectorsTest, SignatureFixtures) {
  WEIR_VECTORS(path,
               "vectors/atproto-interop-tests/crypto/signature-fixtures.json");
  const auto cases = read_json(path);
  EXPECT_EQ(cases.as_array().size(), 6u);
  for (const auto& test : cases.as_array()) {
    SCOPED_TRACE(text_of(test, "comment"));
    const auto which
      = text_of(test, "algorithm") == "ES256" ? curve::p256 : curve::k256;
    const auto key = tests::from_did_key(text_of(test, "publicKeyDid"));
    ASSERT_TRUE(key);
    EXPECT_EQ(key->which(), which);
    // The legacy form of the same key: without its prefix, and compressed.
    const auto legacy
      = public_key::from_legacy(which, text_of(test, "publicKeyMultibase"));
    ASSERT_TRUE(legacy);
    EXPECT_EQ(*legacy, *key);
    EXPECT_EQ("did:key:" + legacy->to_multikey(),
              text_of(test, "publicKeyDid"));
    EXPECT_EQ(key->verify(base64_of(test, "messageBase64"),
                          base64_of(test, "signatureBase64")),
              test.at("validSignature").as_bool());
  }
}

// protocol-coverage.md 7.1
TEST(CryptoVectorsTest, DidKeysOfKnownSecrets) {
  WEIR_VECTORS(folder, "vectors/atproto-interop-tests/crypto");
  const auto k256 = read_json(folder / "w3c_didkey_K256.json");
  EXPECT_EQ(k256.as_array().size(), 5u);
  for (const auto& test : k256.as_array()) {
    const auto key = private_key::from_bytes(
      curve::k256, hex_of(test, "privateKeyBytesHex"));
    ASSERT_TRUE(key);
    EXPECT_EQ("did:key:" + key->public_part().to_multikey(),
              text_of(test, "publicDidKey"));
  }
  const auto p256 = read_json(folder / "w3c_didkey_P256.json");
  EXPECT_EQ(p256.as_array().size(), 1u);
  for (const auto& test : p256.as_array()) {
    const auto secret = decode_base58(text_of(test, "privateKeyBytesBase58"));
    const auto key = private_key::from_bytes(curve::p256, secret.value());
    ASSERT_TRUE(key);
    EXPECT_EQ("did:key:" + key->public_part().to_multikey(),
              text_of(test, "publicDidKey"));
  }
}

// protocol-coverage.md 7.3, 7.4
TEST(CryptoVectorsTest, WycheproofK256) {
  WEIR_VECTORS(path, "vectors/wycheproof/testvectors_v1/"
                     "ecdsa_secp256k1_sha256_p1363_test.json");
  run_wycheproof(path, curve::k256,
                 {{"valid", 95}, {"valid but high s", 72}, {"invalid", 85}});
}

// protocol-coverage.md 7.3, 7.4
TEST(CryptoVectorsTest, WycheproofP256) {
  WEIR_VECTORS(path, "vectors/wycheproof/testvectors_v1/"
                     "ecdsa_secp256r1_sha256_p1363_test.json");
  run_wycheproof(path, curve::p256,
                 {{"valid", 103}, {"valid but high s", 70}, {"invalid", 89}});
}

} // namespace weir::atproto

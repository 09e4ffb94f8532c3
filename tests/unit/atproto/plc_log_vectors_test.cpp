#include "atproto/base_encodings.hpp"
#include "atproto/signature.hpp"
#include "json_vectors.hpp"
#include "tests/support/foreign_forms.hpp"
#include "tests/unit/atproto/json_to_cbor.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

// Operations of the PLC directory are DAG-CBOR and signed like commits, so its
// audit logs test encoder, CIDs and signatures with real data. Whether a whole
// log is valid is not checked, because nothing here needs it.

namespace weir::atproto {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using tests::text_of;

/// The directory writes base64url without padding or stray bits.
std::optional<bytes> decode_base64url(std::string text) {
  if (text.find_first_of("+/=") != std::string::npos)
    return std::nullopt;
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  return decode_base64(text);
}

/// The keys that may sign the operation after `operation`.
std::vector<std::string> rotation_keys(const json::value& operation) {
  if (text_of(operation, "type") == "create")
    return {text_of(operation, "recoveryKey"),
            text_of(operation, "signingKey")};
  std::vector<std::string> out;
  if (const auto* keys = operation.as_object().if_contains("rotationKeys"))
    for (const auto& key : keys->as_array())
      out.push_back(json::value_to<std::string>(key));
  return out;
}

bool signed_by_any(const json::value& operation,
                   const std::vector<std::string>& keys) {
  const auto sig = decode_base64url(text_of(operation, "sig"));
  auto unsigned_operation = operation.as_object();
  unsigned_operation.erase("sig");
  const auto message = json_to_cbor(unsigned_operation);
  return sig && std::any_of(keys.begin(), keys.end(), [&](const auto& text) {
           const auto key = tests::from_did_key(text);
           return key && key->verify(message, *sig);
         });
}

const json::value* find_entry(const json::array& log, const json::value& id) {
  const auto at = std::find_if(log.begin(), log.end(), [&](const auto& entry) {
    return entry.at("cid") == id;
  });
  return at == log.end() ? nullptr : &*at;
}

/// Number of operations of `log` whose signature or CID is wrong.
int count_faults(const json::array& log) {
  int faults = 0;
  for (const auto& entry : log) {
    const auto& operation = entry.at("operation");
    const auto& previous = operation.at("prev");
    const auto* signer
      = previous.is_null() ? &entry : find_entry(log, previous);
    const bool good
      = cid::of_dag_cbor(json_to_cbor(operation)).to_text()
          == text_of(entry, "cid")
        && signer
        && signed_by_any(operation, rotation_keys(signer->at("operation")));
    faults += good ? 0 : 1;
  }
  return faults;
}

json::array read_log(const fs::path& path) {
  return json::parse(tests::read_file(path)).as_array();
}

} // namespace

TEST(PlcLogVectorsTest, OperationsOfValidLogsAreSignedAndNamed) {
  WEIR_VECTORS(folder, "vectors/did-method-plc/interop_tests/audit_log/valid");
  size_t logs = 0;
  size_t operations = 0;
  for (const auto& entry : fs::directory_iterator{folder}) {
    const auto log = read_log(entry.path());
    ++logs;
    operations += log.size();
    EXPECT_EQ(count_faults(log), 0) << entry.path().filename();
  }
  EXPECT_EQ(logs, 10u);
  EXPECT_EQ(operations, 33u);
}

TEST(PlcLogVectorsTest, SignaturesInOtherFormsAreRefused) {
  WEIR_VECTORS(folder,
               "vectors/did-method-plc/interop_tests/audit_log/invalid");
  // No key may sign an operation after a tombstone. The last three break the
  // order of a log, which is not checked here: their signatures and CIDs are
  // correct.
  const std::map<std::string, int> faults{
    {"log_invalid_sig_b64_newline.json", 1},
    {"log_invalid_sig_b64_padding_bits.json", 1},
    {"log_invalid_sig_b64_padding_chars.json", 1},
    {"log_invalid_sig_der.json", 1},
    {"log_invalid_sig_k256_high_s.json", 1},
    {"log_invalid_sig_p256_high_s.json", 1},
    {"log_invalid_update_tombstoned.json", 1},
    {"log_invalid_nullification_reused_key.json", 0},
    {"log_invalid_nullification_too_slow.json", 0},
    {"log_invalid_update_nullified.json", 0},
  };
  std::map<std::string, int> found;
  for (const auto& entry : fs::directory_iterator{folder})
    found[entry.path().filename().string()]
      = count_faults(read_log(entry.path()));
  EXPECT_EQ(found, faults);
}

TEST(PlcLogVectorsTest, OperationsOfTheRealNetworkAreSignedAndNamed) {
  WEIR_VECTORS(folder, "vectors/realnet/did");
  size_t logs = 0;
  for (const auto& entry : fs::directory_iterator{folder})
    if (entry.path().string().ends_with(".audit.json")) {
      ++logs;
      EXPECT_EQ(count_faults(read_log(entry.path())), 0)
        << entry.path().filename();
    }
  EXPECT_EQ(logs, 17u);
}

} // namespace weir::atproto

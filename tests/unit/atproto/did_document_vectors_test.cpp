#include "atproto/did_document.hpp"
#include "tests/support/vectors.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

// protocol-coverage.md 8.3 to 8.6 against documents of real directories.

namespace weir::atproto {

namespace {

namespace json = boost::json;

/// The id in a document, read without the decoder under test.
did id_in(const std::string& text) {
  return did::trusted(json::value_to<std::string>(json::parse(text).at("id")));
}

did_document read_document(const std::filesystem::path& path) {
  const auto text = tests::read_file(path);
  return parse_did_document(text, id_in(text)).value();
}

} // namespace

TEST(DidDocumentVectorsTest, IndigoDocuments) {
  WEIR_VECTORS(folder, "vectors/indigo/atproto/identity/testdata");
  const auto current = read_document(folder / "did_plc_doc.json");
  EXPECT_EQ(current.id.str(), "did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  EXPECT_EQ(current.claimed_handle, "atproto.com");
  EXPECT_EQ(current.signing_key,
            "zQ3shXjHeiBuRCKmM36cuYnm7YEMzhGnCmCyW92sRJ9pribSF");
  EXPECT_EQ(current.pds, "https://bsky.social");
  // The old form of the same account: relative id, and an older key as an
  // uncompressed point without a prefix.
  const auto legacy = read_document(folder / "did_plc_doc_legacy.json");
  EXPECT_EQ(legacy.id, current.id);
  EXPECT_EQ(legacy.claimed_handle, "atproto.com");
  EXPECT_EQ(legacy.signing_key,
            "zQ3shXjHeiBuRCKmM36cuYnm7YEMzhGnCmCyW92sRJ9pribSF");
  EXPECT_EQ(legacy.pds, "https://bsky.social");
  const auto web = read_document(folder / "did_web_doc.json");
  EXPECT_EQ(web.id.str(), "did:web:discover.bsky.social");
  EXPECT_EQ(web.claimed_handle + web.signing_key + web.pds, "");
}

TEST(DidDocumentVectorsTest, DocumentsBesideIndigosRepositories) {
  WEIR_VECTORS(folder, "vectors/indigo/testing/testdata");
  struct expectation {
    const char* file;
    const char* handle;
    const char* pds;
    const char* key_prefix;
  };
  const expectation cases[] = {
    {"paul_staging.didDoc.json", "paul.staging.bsky.dev",
     "https://pds.staging.bsky.dev", "zQ3s"},
    {"greenground.didDoc.json", "greenground.bsky.social",
     "https://bsky.social", "zQ3s"},
    {"fakermaker.didDoc.json", "ebert9014-89.test", "http://localhost:2583",
     "zDn"},
    {"did_plc_z5vnbioquyhivxirw3bbljmu.didDoc.json", "koch5149-c5.test",
     "http://localhost:2583", "zQ3s"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.file);
    const auto document = read_document(folder / test.file);
    EXPECT_EQ(document.claimed_handle, test.handle);
    EXPECT_EQ(document.pds, test.pds);
    EXPECT_TRUE(document.signing_key.starts_with(test.key_prefix));
    EXPECT_TRUE(public_key::from_multikey(document.signing_key));
  }
}

TEST(DidDocumentVectorsTest, DocumentsOfTheRealNetwork) {
  WEIR_VECTORS(folder, "vectors/realnet/did");
  int documents = 0;
  int tombstones = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const auto name = entry.path().filename().string();
    if (name.ends_with(".audit.json"))
      continue;
    SCOPED_TRACE(name);
    const auto text = tests::read_file(entry.path());
    auto id = entry.path().stem().string();
    for (auto& c : id)
      c = c == '_' ? ':' : c;
    const auto owner = did::parse(id).value();
    if (json::parse(text).as_object().contains("status")) {
      ++tombstones;
      EXPECT_FALSE(parse_did_document(text, owner));
      continue;
    }
    ++documents;
    const auto document = parse_did_document(text, owner);
    ASSERT_TRUE(document) << document.error().context;
    EXPECT_TRUE(document->claimed_handle.ends_with(".test"));
    EXPECT_TRUE(document->pds.starts_with("http://localhost:"));
    EXPECT_TRUE(public_key::from_multikey(document->signing_key));
  }
  EXPECT_EQ(documents, 16);
  EXPECT_EQ(tombstones, 1);
}

} // namespace weir::atproto

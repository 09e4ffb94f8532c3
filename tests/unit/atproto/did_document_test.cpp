#include "atproto/did_document.hpp"
#include "atproto/limits.hpp"

#include <gtest/gtest.h>

// protocol-coverage.md 8.3 to 8.6.

namespace weir::atproto {

namespace {

const auto owner = did::trusted("did:plc:ewvi7nxzyoun6zhxrhs64oiz");

constexpr std::string_view multikey
  = "zQ3shXjHeiBuRCKmM36cuYnm7YEMzhGnCmCyW92sRJ9pribSF";
constexpr std::string_view other_multikey
  = "zQ3shqwJEJyMBsBXCWyCBpUBMqxcon9oHB7mCvx4sSpMdLJwc";

/// A document of `owner` with these members after its id.
std::string document(std::string_view members) {
  std::string out = R"({"id":"did:plc:ewvi7nxzyoun6zhxrhs64oiz")";
  if (!members.empty())
    out.append(",").append(members);
  return out + "}";
}

did_document parse(std::string_view members) {
  return parse_did_document(document(members), owner).value();
}

ec refused_as(std::string_view text) {
  const auto out = parse_did_document(text, owner);
  return out ? ec::none : out.error().code;
}

std::string method(std::string_view id, std::string_view key = multikey,
                   std::string_view type = "Multikey",
                   std::string_view controller = owner.str()) {
  std::string out = R"({"id":")";
  out.append(id).append(R"(","type":")").append(type);
  out.append(R"(","controller":")").append(controller);
  out.append(R"(","publicKeyMultibase":")").append(key);
  return out + "\"}";
}

std::string key_of(const std::string& methods) {
  return parse("\"verificationMethod\":[" + methods + "]").signing_key;
}

std::string service(std::string_view endpoint,
                    std::string_view id = "#atproto_pds",
                    std::string_view type = "AtprotoPersonalDataServer") {
  std::string out = R"({"id":")";
  out.append(id).append(R"(","type":")").append(type);
  out.append(R"(","serviceEndpoint":)").append(endpoint);
  return out + "}";
}

std::string pds_of(const std::string& services) {
  return parse("\"service\":[" + services + "]").pds;
}

std::string pds_at(std::string_view endpoint) {
  return pds_of(service("\"" + std::string{endpoint} + "\""));
}

std::string handle_of(std::string_view also_known_as) {
  return parse("\"alsoKnownAs\":" + std::string{also_known_as}).claimed_handle;
}

} // namespace

// -- the document -------------------------------------------------------------

TEST(DidDocumentTest, OneWithNothingButItsIdIsADocument) {
  const auto out = parse("");
  EXPECT_EQ(out.id, owner);
  EXPECT_EQ(out.claimed_handle, "");
  EXPECT_EQ(out.signing_key, "");
  EXPECT_EQ(out.pds, "");
}

// protocol-coverage.md 8.3
TEST(DidDocumentTest, ItMustBeThisDidsDocument) {
  EXPECT_EQ(refused_as(R"({"id":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"})"),
            ec::verification_failed);
  EXPECT_EQ(refused_as(R"({"id":"did:plc:ewvi7nxzyoun6zhxrhs64oiz#x"})"),
            ec::verification_failed);
  EXPECT_EQ(refused_as("{}"), ec::verification_failed);
  EXPECT_EQ(refused_as(R"({"id":1})"), ec::verification_failed);
  EXPECT_FALSE(parse_did_document(R"({"id":""})", did{}));
  EXPECT_FALSE(parse_did_document("{}", did{}));
}

TEST(DidDocumentTest, AnythingElseIsNoDocument) {
  for (const auto* text : {"", "null", "[]", "\"text\"", "{", "{} {}", "<html>",
                           "{\"id\":\"\xff\"}", "{'id':1}"})
    EXPECT_EQ(refused_as(text), ec::malformed) << text;
}

TEST(DidDocumentTest, AMemberNamedTwiceMakesItAmbiguous) {
  EXPECT_EQ(refused_as(document(R"("id":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa")")),
            ec::invalid_argument);
  EXPECT_EQ(refused_as(document(R"("service":[],"service":[])")),
            ec::invalid_argument);
  EXPECT_EQ(refused_as(document(R"("a":[{"b":1,"b":1}])")),
            ec::invalid_argument);
  EXPECT_EQ(refused_as(document(R"("a":1,"\u0061":2)")), ec::invalid_argument);
  // Colons and quotes in strings do not begin members.
  EXPECT_EQ(refused_as(document(R"("a:b":"c:\"d\":e\\","f":"\\\":")")),
            ec::none);
}

// protocol-coverage.md 8.2
TEST(DidDocumentTest, SizeEndsAtItsLimit) {
  const auto of_size = [](size_t n) {
    auto out = document("");
    out.resize(n, ' ');
    return out;
  };
  EXPECT_EQ(refused_as(of_size(limits::did_document_bytes_max)), ec::none);
  EXPECT_EQ(refused_as(of_size(limits::did_document_bytes_max + 1)),
            ec::limit_reached);
}

TEST(DidDocumentTest, NestingEndsAtItsLimit) {
  const auto of_depth = [](size_t n) { // The document itself is one level.
    return document("\"a\":" + std::string(n - 1, '[')
                    + std::string(n - 1, ']'));
  };
  EXPECT_EQ(refused_as(of_depth(limits::did_document_depth_max)), ec::none);
  EXPECT_EQ(refused_as(of_depth(limits::did_document_depth_max + 1)),
            ec::limit_reached);
}

TEST(DidDocumentTest, EntriesEndAtTheirLimit) {
  for (const auto* name : {"alsoKnownAs", "verificationMethod", "service"}) {
    const auto of_entries = [&](size_t n) {
      auto out = "\"" + std::string{name} + "\":[";
      for (; n > 1; --n)
        out += "0,";
      return document(out + "0]");
    };
    EXPECT_EQ(refused_as(of_entries(limits::did_document_entries_max)),
              ec::none);
    EXPECT_EQ(refused_as(of_entries(limits::did_document_entries_max + 1)),
              ec::limit_reached);
  }
}

TEST(DidDocumentTest, MembersOfAnotherShapeCountAsAbsent) {
  for (const auto* value : {"null", "1", "\"x\"", "{}", "[]", "[null,1,[],{}]",
                            R"([{"id":1}])", R"([{"id":"#atproto"}])"}) {
    std::string members;
    for (const auto* name : {"alsoKnownAs", "verificationMethod", "service"})
      members
        += std::string{members.empty() ? "" : ","} + '"' + name + "\":" + value;
    const auto out = parse(members);
    EXPECT_EQ(out.claimed_handle + out.signing_key + out.pds, "") << value;
  }
}

// -- signing key --------------------------------------------------------------

// protocol-coverage.md 8.4
TEST(DidDocumentKeyTest, TheIdIsTheFragmentAloneOrBehindTheDid) {
  EXPECT_EQ(key_of(method("#atproto")), multikey);
  EXPECT_EQ(key_of(method(owner.str() + "#atproto")), multikey);
  for (const auto* id : {"atproto", "#atproto2", "#x#atproto", "",
                         "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa#atproto",
                         "did:plc:ewvi7nxzyoun6zhxrhs64oiz"})
    EXPECT_EQ(key_of(method(id)), "") << id;
}

// protocol-coverage.md 8.4
TEST(DidDocumentKeyTest, TheFirstThatTheDidControlsDecides) {
  const auto foreign = method("#atproto", other_multikey, "Multikey",
                              "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa");
  EXPECT_EQ(key_of(foreign), "");
  EXPECT_EQ(key_of(foreign + "," + method("#atproto")), multikey);
  EXPECT_EQ(
    key_of(method("#atproto") + "," + method("#atproto", other_multikey)),
    multikey);
  EXPECT_EQ(key_of(method("#other", other_multikey) + "," + method("#atproto")),
            multikey);
  // A key that is present but unusable counts as none, whatever follows it.
  for (const auto& bad :
       {method("#atproto", "zQ3sh"), method("#atproto", multikey, "X25519")})
    EXPECT_EQ(key_of(bad + "," + method("#atproto")), "");
}

// protocol-coverage.md 7.2
TEST(DidDocumentKeyTest, LegacyTypesHoldAPointInEitherForm) {
  // A key of the interoperability fixtures, without its prefix and compressed.
  EXPECT_EQ(
    key_of(method("#atproto", "z25z9DTpsiYYJKGsWmSPJK2NFN8PcJtZig12K59UgW7q5t",
                  "EcdsaSecp256k1VerificationKey2019")),
    other_multikey);
  EXPECT_EQ(
    key_of(method("#atproto", "zxdM8dSstjrpZaRUwBmDvjGXweKuEMVN95A9oJBFjkWMh",
                  "EcdsaSecp256r1VerificationKey2019")),
    "zDnaembgSGUhZULN2Caob4HLJPaxBh92N7rtH21TErzqf8HQo");
  EXPECT_EQ(
    key_of(method("#atproto", multikey, "EcdsaSecp256k1VerificationKey2019")),
    "")
    << "a Multikey has a prefix that a legacy key has not";
}

// -- PDS ----------------------------------------------------------------------

// protocol-coverage.md 8.5
TEST(DidDocumentPdsTest, AnOriginHasOneForm) {
  const std::pair<const char*, const char*> cases[] = {
    {"https://pds.example.com", "https://pds.example.com"},
    {"https://pds.example.com/", "https://pds.example.com"},
    {"HTTPS://PDS.Example.COM", "https://pds.example.com"},
    {"https://pds.example.com:443", "https://pds.example.com"},
    {"https://pds.example.com:0443/", "https://pds.example.com"},
    {"https://pds.example.com:80", "https://pds.example.com:80"},
    {"https://pds.example.com:8443", "https://pds.example.com:8443"},
    {"http://localhost:2583", "http://localhost:2583"},
    {"http://localhost:80", "http://localhost"},
    {"http://127.0.0.1:65535", "http://127.0.0.1:65535"},
    {"http://[::1]:2583", "http://[::1]:2583"},
    {"https://[2001:DB8::1]", "https://[2001:db8::1]"},
  };
  for (const auto& [endpoint, origin] : cases)
    EXPECT_EQ(pds_at(endpoint), origin);
}

// protocol-coverage.md 8.5
TEST(DidDocumentPdsTest, OnlyHostAndPortAreAllowed) {
  for (const auto* endpoint : {"",
                               "pds.example.com",
                               "https://",
                               "https:///",
                               "http://:80",
                               "ftp://pds.example.com",
                               "wss://pds.example.com",
                               "https://pds.example.com/path",
                               "https://pds.example.com//",
                               "https://pds.example.com?q",
                               "https://pds.example.com#f",
                               "https://user@pds.example.com",
                               "https://u:p@pds.example.com",
                               "https://pds.example.com:",
                               "https://pds.example.com:0",
                               "https://pds.example.com:65536",
                               "https://pds.example.com:-1",
                               "https://pds.example.com:8x",
                               "https://pds.example.com:80:80",
                               "https://pds example.com",
                               "https://pds.example.com ",
                               "https://.example.com",
                               "https://pds..example.com",
                               "https://pds.",
                               "https://[::1",
                               "https://[]",
                               "https://[::1]x",
                               "https://[::g]",
                               "https://p%64s.example.com",
                               "https://pds.example.com\\\\@evil"})
    EXPECT_EQ(pds_at(endpoint), "") << endpoint;
}

TEST(DidDocumentPdsTest, AHostEndsAtItsLimit) {
  std::string host(limits::handle_bytes_max, 'a');
  EXPECT_EQ(pds_at("https://" + host), "https://" + host);
  EXPECT_EQ(pds_at("https://a" + host), "");
}

// protocol-coverage.md 8.5
TEST(DidDocumentPdsTest, TheFirstServiceOfThatIdDecides) {
  const auto good = service(R"("https://a.com")");
  EXPECT_EQ(pds_of(good + "," + service(R"("https://b.com")")),
            "https://a.com");
  EXPECT_EQ(pds_of(service(R"("https://b.com")", "#bsky_fg") + "," + good),
            "https://a.com");
  EXPECT_EQ(pds_of(service(R"("https://a.com")", owner.str() + "#atproto_pds")),
            "https://a.com");
  EXPECT_EQ(
    pds_of(service(R"("https://b.com")", "#atproto_pds", "Other") + "," + good),
    "");
  EXPECT_EQ(pds_of(service("null") + "," + good), "");
  EXPECT_EQ(pds_of(service(R"({"uri":"https://a.com"})")), "");
  EXPECT_EQ(pds_of(service(R"(["https://a.com"])")), "");
}

// -- handle -------------------------------------------------------------------

// protocol-coverage.md 0.6, 8.6
TEST(DidDocumentHandleTest, TheFirstValidOneIsClaimedInLowerCase) {
  EXPECT_EQ(handle_of(R"(["at://Name.Bsky.Social"])"), "name.bsky.social");
  EXPECT_EQ(handle_of(R"(["https://x.com","at://a.com","at://b.com"])"),
            "a.com");
  EXPECT_EQ(handle_of(R"(["at://bad handle","at://a.com"])"), "a.com");
  EXPECT_EQ(handle_of(R"([1,null,"at://handle.invalid","at://a.com"])"),
            "a.com");
  for (const auto* none : {"[]", R"(["a.com"])", R"(["at://"])",
                           R"(["at://a.com/app.bsky.feed.post"])",
                           R"(["at://did:plc:ewvi7nxzyoun6zhxrhs64oiz"])"})
    EXPECT_EQ(handle_of(none), "") << none;
}

} // namespace weir::atproto

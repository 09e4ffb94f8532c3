#include "actors/identity/export_reads.hpp"
#include "actors/identity/identity_bridge.hpp"
#include "actors/identity/limits.hpp"
#include "atproto/limits.hpp"
#include "messages/identity.hpp"
#include "tests/unit/actors/bridge_world.hpp"

namespace weir::tests {

namespace {

using namespace weir::actors;
using namespace std::chrono_literals;
using atproto::did;

const auto ann = did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").value();
const auto web = did::parse("did:web:example.com").value();

std::string document_of(const did& x) {
  return R"({"id":")" + x.str() + R"(","alsoKnownAs":["at://ann.test"]})";
}

class IdentityBridgeTest : public bridge_world {
protected:
  std::shared_ptr<identity_network> network() {
    return make_identity_network(transport, hosts, directory, options);
  }

  identity_document look_up(const did& x) {
    network()->fetch_document(x, as<identity_actor>());
    return next<identity_document>().value_or(identity_document{});
  }

  identity_handle resolve(const std::string& handle) {
    network()->resolve_handle(ann, handle, as<identity_actor>());
    return next<identity_handle>().value_or(identity_handle{});
  }

  /// The answer of every server.
  result<net::http_response> said{answer_with(404, "")};
  std::shared_ptr<scripted_client> hosts
    = std::make_shared<scripted_client>([this](const auto&) {
        return said;
      });
  std::shared_ptr<scripted_client> directory
    = std::make_shared<scripted_client>([this](const auto&) {
        return said;
      });
  std::shared_ptr<txt_transport> transport = std::make_shared<txt_transport>();
  identity_network_options options{"http://plc.test", {}, false};

  void as_in_a_test_network() { options.allow_private = true; }
};

} // namespace

// protocol-coverage.md 8.1
TEST_F(IdentityBridgeTest, ThePlcDirectoryKnowsADidOrNotOrItIsGone) {
  said = answer_with(200, document_of(ann));
  said->headers.push_back({"content-type", "application/json"});
  const auto known = look_up(ann);
  EXPECT_EQ(known.repo, ann);
  EXPECT_EQ(known.doc.error().code, ec::none);
  EXPECT_EQ(known.doc->claimed_handle, "ann.test");
  EXPECT_EQ(to_string(directory->requests.at(0).target),
            "http://plc.test/did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  said = answer_with(404, R"({"message":"DID not registered: "})");
  EXPECT_EQ(look_up(ann).doc.error().code, ec::not_found);
  EXPECT_FALSE(look_up(ann).gone);
  EXPECT_FALSE(look_up(ann).is_foreign);
  said = answer_with(410, "");
  EXPECT_TRUE(look_up(ann).gone);
  said = answer_with(404, R"({"message":"DID not available: "})");
  EXPECT_TRUE(look_up(ann).gone) << "as older directories say it";
  for (const auto status : {429, 500, 503}) {
    said = answer_with(status, "");
    EXPECT_EQ(look_up(ann).doc.error().code, ec::unreachable) << status;
  }
  EXPECT_TRUE(hosts->requests.empty());
}

TEST_F(IdentityBridgeTest, AWebPageWithStatus410IsNoTombstoneOfADirectory) {
  said = answer_with(410, "\n <html>Gone");
  EXPECT_FALSE(look_up(ann).gone) << "a proxy before it says that";
  EXPECT_EQ(look_up(ann).doc.error().code, ec::unreachable);
  EXPECT_TRUE(look_up(web).gone) << "it is its owner's host";
}

// Other services also answer 404, so that is not always a directory's answer.
TEST_F(IdentityBridgeTest, WhoSaysNotFoundInOtherWordsIsNoDirectory) {
  for (const auto* body : {"", "<html>Not Found", R"({"error":"NotFound"})"}) {
    said = answer_with(404, body);
    EXPECT_EQ(look_up(ann).doc.error().code, ec::not_found) << body;
    EXPECT_TRUE(look_up(ann).is_foreign) << body;
    EXPECT_FALSE(look_up(web).is_foreign) << "it is its owner's host";
  }
}

// A directory that limits us says for how long.
TEST_F(IdentityBridgeTest, ADirectoryThatLimitsUsIsAskedAgainWhenItSays) {
  said = answer_with(503, "");
  EXPECT_FALSE(look_up(ann).limited);
  said = answer_with(429, "");
  EXPECT_EQ(look_up(ann).limited, 0s);
  said->retry_after = 30s;
  EXPECT_EQ(look_up(ann).limited, 30s);
}

// protocol-coverage.md 8.1: an answer that is not the DID's document says
// nothing about it. For a did:web its own host gives it.
TEST_F(IdentityBridgeTest, ADirectoryThatAnswersAnythingElseIsAway) {
  for (const auto& [body, own] :
       {std::pair{std::string{"<html>"}, ec::malformed},
        {"", ec::malformed},
        {"[]", ec::malformed},
        {"{}", ec::verification_failed},
        {document_of(did::parse("did:plc:" + std::string(24, 'a')).value()),
         ec::verification_failed}}) {
    said = answer_with(200, body);
    EXPECT_EQ(look_up(ann).doc.error().code, ec::unreachable) << body;
    EXPECT_EQ(look_up(web).doc.error().code, own) << body;
  }
  for (const auto what : {ec::malformed, ec::invalid_argument}) {
    said = fail(what, "a redirect to nowhere");
    EXPECT_EQ(look_up(ann).doc.error().code, ec::unreachable);
    EXPECT_EQ(look_up(ann).doc.error().context, "a redirect to nowhere");
    EXPECT_EQ(look_up(web).doc.error().code, what);
  }
  // The server's name does not exist, which says nothing about the DID.
  said = fail(ec::not_found, "no such name: plc.test");
  EXPECT_EQ(look_up(ann).doc.error().code, ec::unreachable);
  EXPECT_EQ(look_up(web).doc.error().code, ec::unreachable);
  auto twice = document_of(ann);
  twice.insert(1, R"("service":[],"service":[],)");
  said = answer_with(200, twice);
  EXPECT_EQ(look_up(ann).doc.error().code, ec::invalid_argument)
    << "that is the document of the DID";
}

// protocol-coverage.md 8.1
TEST_F(IdentityBridgeTest, AWebDidIsAskedOfItsHost) {
  said = answer_with(200, document_of(web));
  EXPECT_EQ(look_up(web).doc.error().code, ec::none);
  EXPECT_EQ(to_string(hosts->requests.at(0).target),
            "https://example.com/.well-known/did.json");
  said = answer_with(404, R"({"message":"DID not available: "})");
  EXPECT_FALSE(look_up(web).gone) << "only the directory has tombstones so";
  const auto local = did::parse("did:web:localhost%3A2583").value();
  EXPECT_EQ(look_up(local).doc.error().code, ec::invalid_argument);
  options.allow_private = true;
  look_up(local);
  EXPECT_EQ(to_string(hosts->requests.back().target),
            "http://localhost:2583/.well-known/did.json");
  EXPECT_TRUE(directory->requests.empty());
}

// An escape in a DID must not begin a port, a path or a query.
TEST_F(IdentityBridgeTest, AWebDidNamesAHostAndNothingElse) {
  options.allow_private = true;
  for (const auto* text :
       {"did:web:example.com%2Fadmin", "did:web:example.com%3A8080",
        "did:web:example.com%3Fx", "did:web:localhost%3A80%2Fadmin%3Fx%3D",
        "did:web:localhost%2Fadmin", "did:web:localhost", "did:web:127.0.0.1",
        "did:web:example.com:users:ann", "did:web:a%40example.com"})
    EXPECT_EQ(look_up(did::parse(text).value()).doc.error().code, ec::malformed)
      << text;
  EXPECT_TRUE(hosts->requests.empty());
  EXPECT_TRUE(directory->requests.empty());
}

// protocol-coverage.md 0.2
TEST_F(IdentityBridgeTest, AnUnknownMethodIsNotLookedUp) {
  const auto out = look_up(did::parse("did:key:zQ3sh").value());
  EXPECT_EQ(out.doc.error().code, ec::invalid_argument);
  EXPECT_TRUE(hosts->requests.empty() && directory->requests.empty());
}

// protocol-coverage.md 8.2
TEST_F(IdentityBridgeTest, DocumentsAreReadUpToTheirLimit) {
  auto body = document_of(ann);
  body.append(limits::did_document_bytes_max - body.size(), ' ');
  said = answer_with(200, body);
  EXPECT_EQ(look_up(ann).doc.error().code, ec::none);
  said = answer_with(200, body + ' ');
  EXPECT_EQ(look_up(ann).doc.error().code, ec::limit_reached);
  look_up(web);
  for (const auto& x : {directory, hosts})
    EXPECT_EQ(x->requests.at(0).redirects_max, 3u);
}

// protocol-coverage.md 8.7
TEST_F(IdentityBridgeTest, DnsNamesTheDidOfAHandleAndWins) {
  as_in_a_test_network();
  said = answer_with(200, web.str());
  auto& values = transport->values["_atproto.ann.test"];
  values = {"v=spf1", "did=" + ann.str(), "did=" + ann.str()};
  EXPECT_EQ(*resolve("ann.test").owner, ann);
  values.push_back("did=" + web.str());
  EXPECT_EQ(resolve("ann.test").owner.error().code, ec::not_found)
    << "two DIDs";
  values = {"did=nonsense"};
  EXPECT_EQ(resolve("ann.test").owner.error().code, ec::not_found);
  EXPECT_TRUE(hosts->requests.empty());
}

// protocol-coverage.md 8.7, 10.15
TEST_F(IdentityBridgeTest, WithoutDnsTheHandlesHostIsAsked) {
  as_in_a_test_network();
  transport->values["_atproto.ann.test"] = {"v=spf1"};
  said = answer_with(203, " " + ann.str() + "\r\n");
  for (const auto* handle : {"ann.test", "unknown.test"}) {
    EXPECT_EQ(*resolve(handle).owner, ann) << handle;
    EXPECT_EQ(to_string(hosts->requests.back().target),
              "https://" + std::string{handle} + "/.well-known/atproto-did");
  }
  said = answer_with(200, "<html>");
  EXPECT_EQ(resolve("ann.test").owner.error().code, ec::not_found);
  said = answer_with(404, ann.str());
  EXPECT_EQ(resolve("ann.test").owner.error().code, ec::not_found);
  said = answer_with(503, "");
  EXPECT_EQ(resolve("ann.test").owner.error().code, ec::unreachable);
  const std::string padding(limits::handle_body_bytes_max - ann.str().size(),
                            '\n');
  said = answer_with(200, ann.str() + padding);
  EXPECT_EQ(*resolve("ann.test").owner, ann);
  said = answer_with(200, ann.str() + padding + '\n');
  EXPECT_EQ(resolve("ann.test").owner.error().code, ec::limit_reached);
}

// protocol-coverage.md 8.7: a name server that does not answer proves nothing,
// and a host without the file does not replace its answer
TEST_F(IdentityBridgeTest, ANameServerThatIsSilentSaysNothingOfAHandle) {
  said = answer_with(404, "");
  EXPECT_EQ(resolve("ann.example.com").owner.error().code, ec::not_found);
  transport->failed = fail(ec::unreachable, "no answer");
  EXPECT_EQ(resolve("ann.example.com").owner.error().code, ec::unreachable);
  said = answer_with(200, ann.str());
  EXPECT_EQ(*resolve("ann.example.com").owner, ann);
}

// protocol-coverage.md 8.9
TEST_F(IdentityBridgeTest, DnsIsNotAskedForHandlesThatAreServedByHttp) {
  said = answer_with(200, ann.str());
  EXPECT_EQ(*resolve("ann.bsky.social").owner, ann);
  EXPECT_EQ(transport->asked, 0u);
  EXPECT_EQ(*resolve("bsky.social").owner, ann) << "that is no name under it";
  EXPECT_EQ(transport->asked, 1u);
  EXPECT_EQ(*resolve("annbsky.social").owner, ann);
  EXPECT_EQ(transport->asked, 2u);
}

// protocol-coverage.md 0.6
TEST_F(IdentityBridgeTest, HandlesOfTestNetworksAreLookedUpInThoseOnly) {
  said = answer_with(200, ann.str());
  transport->values["_atproto.ann.test"] = {"did=" + ann.str()};
  for (const auto* resolver : {"", "https://resolver.test"}) {
    options.handle_resolver_url = resolver;
    options.allow_private = false;
    EXPECT_EQ(resolve("ann.test").owner.error().code, ec::not_found);
    EXPECT_EQ(transport->asked + hosts->requests.size()
                + directory->requests.size(),
              0u);
  }
  options.handle_resolver_url.clear();
  as_in_a_test_network();
  EXPECT_EQ(*resolve("ann.test").owner, ann);
}

TEST_F(IdentityBridgeTest, AResolverIsAskedInTheirPlaceAndNoFurther) {
  as_in_a_test_network();
  options.handle_resolver_url = "https://resolver.test";
  said = answer_with(200, R"({"did":")" + ann.str() + R"("})");
  EXPECT_EQ(*resolve("ann.test").owner, ann);
  EXPECT_TRUE(hosts->requests.empty());
  const auto& asked = directory->requests.at(0);
  EXPECT_EQ(to_string(asked.target),
            "https://resolver.test/xrpc/com.atproto.identity.resolveHandle"
            "?handle=ann.test");
}

// A server that is not a resolver differs from one that does not know the
// handle.
TEST_F(IdentityBridgeTest, OnlyAResolverAnswersAsOne) {
  as_in_a_test_network();
  EXPECT_EQ(resolve("ann.test").resolver, resolver_answer::not_asked);
  options.handle_resolver_url = "https://resolver.test";
  const auto answered = [&](int status, const std::string& body) {
    said = answer_with(status, body);
    const auto x = resolve("ann.test");
    return std::pair{x.resolver, x.owner.error().code};
  };
  using enum resolver_answer;
  const std::pair owned{given, ec::none};
  const std::pair nobodys{given, ec::not_found};
  const std::pair foreign{none, ec::not_found};
  const std::pair away{none, ec::unreachable};
  EXPECT_EQ(answered(200, R"({"did":")" + ann.str() + R"("})"), owned);
  EXPECT_EQ(answered(200, R"({"did":"no"})"), nobodys);
  EXPECT_EQ(answered(400, R"({"error":"InvalidRequest"})"), nobodys);
  EXPECT_EQ(answered(404, R"({"error":"HandleNotFound"})"), nobodys);
  EXPECT_EQ(answered(404, R"({"error":"XRPCNotSupported"})"), foreign);
  EXPECT_EQ(answered(404, "<html>"), away);
  EXPECT_EQ(answered(200, "<html>"), away);
  EXPECT_EQ(answered(429, "{}"), away);
  EXPECT_EQ(answered(501, R"({"error":"MethodNotImplemented"})"), away);
  for (const auto code : {ec::unreachable, ec::not_found}) {
    said = fail(code, "its name");
    EXPECT_EQ(resolve("ann.test").owner.error().code, ec::unreachable);
    EXPECT_EQ(resolve("ann.test").resolver, none);
  }
}

// architecture.md, A wrong clock
TEST_F(IdentityBridgeTest, TheDateOfADirectoryIsBelievedWhereTlsProvesIt) {
  constexpr wall_time autumn{784'111'777'000'000};
  said = answer_with(404, "");
  said->headers.push_back({"date", "Sun, 06 Nov 1994 08:49:37 GMT"});
  EXPECT_EQ(look_up(ann).date, autumn);
  EXPECT_FALSE(look_up(ann).date_is_proved) << "anybody may have said that";
  options.plc_url = "https://plc.test";
  EXPECT_EQ(look_up(ann).date, autumn);
  EXPECT_TRUE(look_up(ann).date_is_proved);
  EXPECT_EQ(look_up(web).date, std::nullopt) << "its owner's host";
  said->headers.back().value = "yesterday";
  EXPECT_EQ(look_up(ann).date, std::nullopt);
  said->headers.clear();
  EXPECT_EQ(look_up(ann).date, std::nullopt);
}

// The did:plc specification, "Bulk Export"
TEST_F(IdentityBridgeTest, APageOfTheExportIsAskedForByNumber) {
  const auto page = [&] {
    network()->fetch_export(41, 7, as<identity_actor>());
    auto x = next<export_page>().value_or(export_page{});
    return x.operations ? read_page(std::move(x)) : x;
  };
  const auto line = [](int number) {
    return R"({"seq":)" + std::to_string(number) + R"(,"cid":"x","did":")"
           + ann.str() + R"(","operation":{"type":"plc_operation"}})" + "\n";
  };
  said = answer_with(200, line(42) + line(43));
  const auto two = page();
  EXPECT_EQ(two.operations.error().code, ec::none);
  ASSERT_EQ(two.operations->size(), 2u);
  EXPECT_EQ(two.operations->at(1).number, 43u);
  EXPECT_EQ(to_string(directory->requests.at(0).target),
            "http://plc.test/export?count=7&after=41");
  EXPECT_TRUE(hosts->requests.empty());
  std::string eight;
  for (int i = 42; i < 50; ++i)
    eight += line(i);
  said = answer_with(200, eight);
  EXPECT_EQ(page().operations.error().code, ec::malformed)
    << "more than asked for";
  said = answer_with(200, line(41));
  EXPECT_EQ(page().operations.error().code, ec::malformed) << "not behind it";
  for (const auto status : {404, 429, 500, 503}) {
    said = answer_with(status, "");
    EXPECT_EQ(page().operations.error().code, ec::unreachable) << status;
  }
  said = answer_with(429, "");
  said->retry_after = 30s;
  EXPECT_EQ(page().limited, 30s);
}

// limits::export_page_bytes_max, limits::export_page_timeout
TEST_F(IdentityBridgeTest, APageOfTheExportIsSoLargeAndNotOneByteMore) {
  const auto failure = [&](size_t bytes) {
    said = answer_with(200, std::string(bytes, '\n'));
    network()->fetch_export(0, 1'000, as<identity_actor>());
    return next<export_page>().value_or(export_page{}).operations.error().code;
  };
  EXPECT_EQ(failure(limits::export_page_bytes_max + 1), ec::limit_reached);
  directory->takes = limits::export_page_timeout;
  EXPECT_EQ(failure(limits::export_page_bytes_max), ec::none);
  directory->takes += 1us;
  EXPECT_EQ(failure(0), ec::unreachable);
}

} // namespace weir::tests

#include "actors/supervisor/host_bridges.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/upstream/stream_bridge.hpp"
#include "messages/account.hpp"
#include "messages/frames.hpp"
#include "net/http_server.hpp"
#include "net/limits.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/unit/actors/bridge_world.hpp"

namespace weir::tests {

namespace {

using namespace weir::actors;
using storage::account_status;

const auto known_did
  = atproto::did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").value();

class ListingBridgeTest : public bridge_world {
protected:
  listing_page ask(const std::string& cursor,
                   const std::string& collection = {}) {
    upstream_view upstream;
    upstream.id = 7;
    upstream.origin = "https://pds.test";
    upstream.relay = !collection.empty(); // A PDS has no such listing.
    upstream.epoch = 1;
    upstream.first_cursor = 20;
    upstream.received = 90;
    shared->upstreams.put(upstream);
    make_repo_lister(client, shared)(upstream, collection, cursor,
                                     as<supervisor_actor>());
    return next<listing_page>().value_or(listing_page{});
  }

  std::string last_target() const {
    return to_string(client->requests.back().target);
  }

  net::http_response said;
  std::shared_ptr<scripted_client> client
    = std::make_shared<scripted_client>([this](const auto&) {
        return said;
      });
  context_ptr shared = std::make_shared<context>();
};

class AccountBridgeTest : public bridge_world {
protected:
  account_answer ask(result<net::http_response> answer) {
    const auto client = std::make_shared<scripted_client>([&](const auto&) {
      return answer;
    });
    make_account_asker(client)(known_did, "https://pds.test",
                               as<supervisor_actor>());
    EXPECT_EQ(to_string(client->requests.at(0).target),
              "https://pds.test/xrpc/com.atproto.sync.getRepoStatus?did="
              "did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz");
    const auto out = next<account_answer>().value_or(account_answer{});
    EXPECT_EQ(out.repo, known_did);
    EXPECT_EQ(out.pds, "https://pds.test");
    return out;
  }

  account_answer::kind kind_of(int status, std::string_view body) {
    return ask(answer_with(status, body)).what;
  }
};

/// Records the targets of upgrade requests.
class upgrades final : public net::http_service {
public:
  void on_request(net::incoming_request, net::responder answer) override {
    answer.send(net::error_reply(404, "NotFound", "not here"));
  }

  void on_upgrade(net::incoming_request request,
                  net::upgrader answer) override {
    answer.reject(net::error_reply(503, "Unavailable", "not now"));
    seen.push(std::move(request));
  }

  inbox<net::incoming_request> seen;
};

class StreamBridgeTest : public bridge_world {};

} // namespace

// protocol-coverage.md 4.5: {did, active, status?}
TEST_F(AccountBridgeTest, AHostSaysWhatTheAccountIs) {
  const auto said = [this](std::string_view rest) {
    const auto x = ask(answer_with(
      200, R"({"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz",)"
             + std::string{rest} + '}'));
    EXPECT_EQ(x.what, account_answer::kind::stated);
    return x.account;
  };
  EXPECT_EQ(said(R"("active":true)"), account_status::active);
  EXPECT_EQ(said(R"("active":false,"status":"suspended")"),
            account_status::suspended);
  EXPECT_EQ(said(R"("active":false,"status":"resting")"),
            account_status::inactive);
  const auto refused = ask(answer_with(400, R"({"error":"RepoTakendown"})"));
  EXPECT_EQ(refused.what, account_answer::kind::stated);
  EXPECT_EQ(refused.account, account_status::takendown);
}

// completeness.md, The terms: when getRepoStatus has no rev, getLatestCommit is
// asked for it if the account is active
TEST_F(AccountBridgeTest, TheRevIsAskedForWhereItIsLeftOut) {
  const auto ask_for = [this](std::string_view status,
                              result<net::http_response> latest) {
    const auto client = std::make_shared<scripted_client>([&](const auto& x) {
      const auto target = to_string(x.target);
      return target.find("getLatestCommit") == std::string::npos
               ? result<net::http_response>{answer_with(200, status)}
               : latest;
    });
    make_account_asker(client)(known_did, "https://pds.test",
                               as<supervisor_actor>());
    const auto out = next<account_answer>().value_or(account_answer{});
    EXPECT_EQ(out.what, account_answer::kind::stated);
    return std::pair{out.rev, client->requests.size()};
  };
  const std::string head = R"({"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz",)";
  const auto rev = atproto::tid::parse("3jzfcijpj2z2a").value();
  const auto latest = answer_with(200, R"({"cid":"a","rev":"3jzfcijpj2z2a"})");
  EXPECT_EQ(ask_for(head + R"("active":true,"rev":"3jzfcijpj2z2a"})", latest),
            std::pair(rev, size_t{1}));
  EXPECT_EQ(ask_for(head + R"("active":true})", latest),
            std::pair(rev, size_t{2}));
  EXPECT_EQ(ask_for(head + R"("active":false})", latest).second, 1u);
  for (const auto& none :
       {answer_with(200, "{}"), answer_with(200, R"({"rev":"later"})"),
        answer_with(400, R"({"error":"InvalidRequest"})"),
        answer_with(404, "no such page"), answer_with(501, "{}")})
    EXPECT_FALSE(ask_for(head + R"("active":true})", none).first.defined());
}

// completeness.md, Acting: a busy host is not a reason to fetch. It is asked
// again at the time that it names. The same holds for a proxy's error page.
TEST_F(AccountBridgeTest, AHostThatDoesNotAnswerBothIsAskedAgain) {
  using kind = account_answer::kind;
  using answer = result<net::http_response>;
  const auto ask_both = [this](const answer& status, const answer& latest) {
    const auto client = std::make_shared<scripted_client>([&](const auto& x) {
      const auto target = to_string(x.target);
      return target.find("getLatestCommit") == std::string::npos ? status
                                                                 : latest;
    });
    make_account_asker(client)(known_did, "https://pds.test",
                               as<supervisor_actor>());
    const auto out = next<account_answer>().value_or(account_answer{});
    EXPECT_EQ(client->requests.size(), 2u);
    return std::pair{out.what, out.retry_after.count()};
  };
  auto busy = answer_with(429, "{}");
  busy.retry_after = std::chrono::seconds{17};
  for (const auto& first :
       {answer_with(
          200,
          R"({"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz","active":true})"),
        answer_with(401, "{}"), answer_with(200, "<html>")}) {
    EXPECT_EQ(ask_both(first, busy), std::pair(kind::failed, 17L));
    for (const answer& away :
         {answer{answer_with(503, "{}")}, answer{answer_with(408, "{}")},
          answer{answer_with(200, "<html>")},
          answer{fail(ec::unreachable, "nobody")}})
      EXPECT_EQ(ask_both(first, away), std::pair(kind::failed, 0L));
  }
  EXPECT_EQ(ask_both(answer_with(401, "{}"), answer_with(401, "{}")).first,
            kind::useless);
}

// protocol-coverage.md 4.5: only RepoNotFound says that the repo is gone. An
// answer about another DID, or from a server that does not know the method,
// says nothing
TEST_F(AccountBridgeTest, WhatIsNoAnswerSaysNothing) {
  using kind = account_answer::kind;
  EXPECT_EQ(kind_of(400, R"({"error":"RepoNotFound"})"), kind::not_found);
  EXPECT_EQ(kind_of(404, R"({"error":"RepoNotFound"})"), kind::not_found);
  EXPECT_EQ(kind_of(404, "no such page"), kind::useless);
  EXPECT_EQ(kind_of(400, R"({"error":"InvalidRequest"})"), kind::useless);
  EXPECT_EQ(kind_of(501, "{}"), kind::failed);
  EXPECT_EQ(kind_of(401, R"({"error":"RepoNotFound"})"), kind::useless);
  EXPECT_EQ(kind_of(200, R"({"did":"did:web:b.test","active":false})"),
            kind::useless);
  EXPECT_EQ(kind_of(200, "[]"), kind::useless);
  EXPECT_EQ(ask(fail(ec::unreachable, "nobody")).what, kind::failed);
  auto busy = answer_with(429, "{}");
  busy.retry_after = std::chrono::seconds{17};
  EXPECT_EQ(ask(busy).what, kind::failed);
  EXPECT_EQ(ask(busy).retry_after, std::chrono::seconds{17});
}

// protocol-coverage.md 9.1
TEST_F(ListingBridgeTest, PagesOfAThousandAreAskedForByTheirCursor) {
  said = answer_with(200, R"({"cursor":"a b","repos":[
    {"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz","head":"x",
     "rev":"3jzfcijpj2z2a","active":true},
    {"did":"did:web:example.com","rev":"3jzfcijpj2z2b","active":false,
     "status":"takendown"},
    {"did":"did:web:b.example.com","rev":"3jzfcijpj2z2b","active":false,
     "status":"resting"},
    {"did":"nonsense","rev":"3jzfcijpj2z2b"},
    {"did":"did:web:c.example.com","rev":""},7,null,[]]})");
  const auto page = ask("");
  EXPECT_EQ(last_target(),
            "https://pds.test/xrpc/com.atproto.sync.listRepos?limit="
              + std::to_string(limits::listing_page_asked));
  EXPECT_EQ(page.repos.error().code, ec::none);
  EXPECT_EQ(page.cursor, "a b");
  ASSERT_EQ(page.repos->size(), 3u) << "lines that are no repos are left out";
  EXPECT_EQ(page.repos->at(0).repo, known_did);
  EXPECT_EQ(page.repos->at(0).rev.str(), "3jzfcijpj2z2a");
  EXPECT_EQ(page.repos->at(0).account, account_status::active);
  EXPECT_EQ(page.repos->at(1).account, account_status::takendown);
  EXPECT_EQ(page.repos->at(2).account, account_status::inactive);
  EXPECT_EQ(page.repos->at(2).asked_at, (position{7, 1, 90}))
    << "what the stream had brought before";
  ask(page.cursor);
  EXPECT_TRUE(last_target().ends_with("&cursor=a%20b")) << last_target();
}

TEST_F(ListingBridgeTest, APageHasSoManyLinesAndNotOneMore) {
  const auto page_of = [this](size_t lines) {
    std::string body = R"({"repos":[)";
    for (size_t i = 0; i < lines; ++i)
      body += R"({"did":"did:web:r)" + std::to_string(i)
              + R"(.test","rev":"3jzfcijpj2z2a"},)";
    body.back() = ']';
    said = answer_with(200, body + '}');
    return ask("");
  };
  const auto most = page_of(limits::listing_page_max);
  EXPECT_EQ(most.repos.error().code, ec::none);
  EXPECT_EQ(most.repos->size(), limits::listing_page_max);
  const auto more = page_of(limits::listing_page_max + 1);
  EXPECT_EQ(more.repos.error().code, ec::limit_reached);
  EXPECT_FALSE(more.repos);
}

// protocol-coverage.md 9.2: accounts with records in a collection; lines have
// no rev
TEST_F(ListingBridgeTest, ACollectionIsAskedForByItsName) {
  said = answer_with(200, R"({"cursor":"c2","repos":[
    {"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz"},{"did":"nonsense"}]})");
  const auto page = ask("c1", "app.test.note");
  EXPECT_EQ(last_target(),
            "https://pds.test/xrpc/com.atproto.sync.listReposByCollection"
            "?limit=1000&collection=app.test.note&cursor=c1");
  EXPECT_EQ(page.collection, "app.test.note");
  EXPECT_EQ(page.cursor, "c2");
  ASSERT_EQ(page.repos->size(), 1u);
  EXPECT_EQ(page.repos->at(0).repo, known_did);
  EXPECT_FALSE(page.repos->at(0).rev.defined());
}

// protocol-coverage.md 9: a host that does not know its own cursor
TEST_F(ListingBridgeTest, ARefusedCursorIsNoListing) {
  said = answer_with(400, R"({"error":"InvalidRequest"})");
  EXPECT_EQ(ask("c1").repos.error().code, ec::malformed);
}

// A real PDS gives a cursor with its last page, too.
// protocol-coverage.md 9.1
TEST_F(ListingBridgeTest, AnEmptyPageIsTheLastOne) {
  said = answer_with(200, R"({"cursor":"again","repos":[]})");
  const auto page = ask("x");
  EXPECT_EQ(page.repos.error().code, ec::none);
  EXPECT_EQ(page.cursor, "");
}

// protocol-coverage.md 9.2: the wait that a busy host asks for, in any form
TEST_F(ListingBridgeTest, AHostThatAsksForTimeIsHeard) {
  for (const auto status : {429, 500, 503}) {
    said = answer_with(status, "");
    EXPECT_EQ(ask("").retry_after, 0s) << "it asks for nothing";
    said.rate_limit_reset = 30s;
    EXPECT_EQ(ask("").retry_after, 30s);
    said.retry_after = 600s;
    EXPECT_EQ(ask("").retry_after, 600s);
    EXPECT_EQ(ask("c1", "app.test.note").retry_after, 600s);
    EXPECT_EQ(ask("").repos.error().code, ec::unreachable) << status;
  }
  said = answer_with(200, R"({"repos":[]})");
  said.rate_limit_reset = 30s;
  EXPECT_EQ(ask("").retry_after, 0s) << "it answers";
}

// protocol-coverage.md 9.2
TEST_F(ListingBridgeTest, WhatIsNotOfferedIsToldFromWhatFailed) {
  for (const auto status : {401, 404, 501}) {
    said = answer_with(status, "");
    EXPECT_EQ(ask("").repos.error().code, ec::not_found) << status;
  }
  for (const auto status : {429, 500, 503}) {
    said = answer_with(status, "");
    EXPECT_EQ(ask("").repos.error().code, ec::unreachable) << status;
  }
  for (const auto* body : {"", "[]", R"({"repos":1})", "<html>"}) {
    said = answer_with(200, body);
    EXPECT_EQ(ask("").repos.error().code, ec::malformed) << body;
  }
}

// protocol-coverage.md 9.2: an unknown host name says nothing about the method
TEST_F(ListingBridgeTest, AHostWhoseNameIsNotKnownIsAway) {
  client = std::make_shared<scripted_client>(
    [](const auto&) -> result<net::http_response> {
      return fail(ec::not_found, "no such name: pds.test");
    });
  const auto page = ask("");
  EXPECT_EQ(page.repos.error().code, ec::unreachable);
  EXPECT_EQ(page.repos.error().context, "no such name: pds.test");
}

// protocol-coverage.md 1.1, 1.11
TEST_F(StreamBridgeTest, TheCursorIsPartOfThePath) {
  net::io_threads threads;
  const auto network = net::make_system_transport(threads);
  const auto service = std::make_shared<upgrades>();
  net::http_server_options at;
  at.at = {net::ip_address::loopback_v4(), 0};
  const auto server = net::make_http_server(network, service, at).value();
  threads.start();
  net::ws_client_options options;
  options.guard = net::address_guard{true};
  const auto dial = make_stream_dialer(network, options);
  const auto origin = "http://" + to_string(server->local());
  const std::pair<std::optional<uint64_t>, std::optional<std::string>> cases[]
    = {{std::nullopt, std::nullopt}, {0, "0"}, {9'007, "9007"}};
  for (const auto& [cursor, sent] : cases) {
    const auto socket = dial(origin, cursor, 5, as<upstream_actor>());
    const auto request = service->seen.pop();
    ASSERT_TRUE(request);
    EXPECT_EQ(request->path, "/xrpc/com.atproto.sync.subscribeRepos");
    const auto* parameter = request->parameter("cursor");
    EXPECT_EQ(parameter ? std::optional{*parameter} : std::nullopt, sent);
    const auto closed = next<stream_closed>();
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->connection, 5u);
    EXPECT_EQ(closed->http_status, 503);
  }
  threads.stop();
  threads.join();
}

} // namespace weir::tests

#include "atproto/car.hpp"
#include "atproto/did_document.hpp"
#include "simnet/sync_reads.hpp"
#include "tests/unit/simnet/servers_fixture.hpp"

#include <set>

// The answers of the servers.

namespace weir::tests {

namespace {

namespace json = boost::json;
using simnet::fault;
using simnet::fault_kind;

class ServersTest : public ServersFixture {
protected:
  /// The name of the error in an answer that must have this status.
  std::string refusal(const std::string& url, int status = 400) {
    const auto x = get(url);
    EXPECT_EQ(x.status, status) << url;
    return std::string{json_of(x)["error"].as_string()};
  }

  void inject(fault_kind kind, size_t index) {
    fault x;
    x.kind = kind;
    x.did = view(index).id.str();
    ASSERT_TRUE(net.faults().inject(x));
  }

  /// All lines of a listing, page by page.
  std::vector<json::object> list(const std::string& url) {
    std::vector<json::object> out;
    for (std::string cursor; out.size() < 100;) {
      const auto page = json_of(get(url + cursor));
      const auto& repos = page.at("repos").as_array();
      for (const auto& x : repos)
        out.push_back(x.as_object());
      if (repos.empty()) {
        EXPECT_FALSE(page.contains("cursor"));
        return out;
      }
      // The last page has a cursor, too.
      cursor = "&cursor=" + std::string{page.at("cursor").as_string()};
    }
    return out;
  }
};

class LegacyServersTest : public ServersFixture {
protected:
  LegacyServersTest()
    : ServersFixture([] {
        auto out = small_network(system_clock());
        out.legacy_documents = true;
        return out;
      }()) {
    // nop
  }
};

} // namespace

TEST_F(ServersTest, ListingsArePagedAndHaveACursorOnEveryPageWithEntries) {
  std::set<std::string> seen;
  for (size_t host = 0; host < urls.hosts.size(); ++host)
    for (const auto& x :
         list(xrpc(urls.hosts[host], "sync.listRepos?limit=2"))) {
      const auto did = std::string{x.at("did").as_string()};
      const auto account = view(net.truth().find(did).value());
      EXPECT_TRUE(seen.insert(did).second);
      EXPECT_EQ(account.host, host);
      EXPECT_EQ(x.at("head").as_string(), account.head.to_text());
      EXPECT_EQ(x.at("rev").as_string(), account.rev.str());
      EXPECT_TRUE(x.at("active").as_bool());
    }
  EXPECT_EQ(seen.size(), net.truth().accounts());
  EXPECT_EQ(list(xrpc(urls.relay, "sync.listRepos?limit=5")).size(),
            net.truth().accounts());
}

TEST_F(ServersTest, ListingsNameInactiveAccountsAndForgetDeletedOnes) {
  inject(fault_kind::take_down, 2);
  inject(fault_kind::remove, 5);
  const auto all = list(xrpc(urls.relay, "sync.listRepos?limit=100"));
  EXPECT_EQ(all.size(), net.truth().accounts() - 1);
  for (const auto& x : all)
    if (x.at("did").as_string() == view(2).id.str()) {
      EXPECT_FALSE(x.at("active").as_bool());
      EXPECT_EQ(x.at("status").as_string(), "takendown");
      EXPECT_EQ(x.at("rev").as_string(), view(2).rev.str());
    }
}

TEST_F(ServersTest, ARepositoryIsServedPlainAndCompressed) {
  for (const size_t index : {0u, 1u, 2u, 3u}) {
    const auto url
      = xrpc(host_url(index), "sync.getRepo?did=" + view(index).id.str());
    const auto plain = get(url);
    EXPECT_EQ(plain.status, 200);
    EXPECT_EQ(*find_header(plain.headers, "content-type"),
              "application/vnd.ipld.car");
    EXPECT_EQ(as_text(plain.body),
              as_text(net.truth().export_car(index).view()));
    EXPECT_EQ(get(url, true).body, plain.body);
  }
}

TEST_F(ServersTest, TheRelayRedirectsToTheHost) {
  const auto x = get(xrpc(urls.relay, "sync.getRepo?did=" + view(1).id.str()));
  EXPECT_EQ(x.status, 200);
  EXPECT_EQ(x.from.origin(), host_url(1));
  EXPECT_EQ(as_text(x.body), as_text(net.truth().export_car(1).view()));
}

TEST_F(ServersTest, StatusAnswersNameWhatTheHostKnows) {
  const auto ask = [this](const char* what, size_t index) {
    return xrpc(host_url(index),
                std::string{"sync."} + what + "?did=" + view(index).id.str());
  };
  const auto latest = json_of(get(ask("getLatestCommit", 0)));
  EXPECT_EQ(latest.at("cid").as_string(), view(0).head.to_text());
  EXPECT_EQ(latest.at("rev").as_string(), view(0).rev.str());
  const auto status = json_of(get(ask("getRepoStatus", 0)));
  EXPECT_TRUE(status.at("active").as_bool());
  EXPECT_EQ(status.at("rev").as_string(), view(0).rev.str());
  inject(fault_kind::deactivate, 1);
  inject(fault_kind::take_down, 2);
  inject(fault_kind::suspend, 3);
  inject(fault_kind::remove, 4);
  const char* names[]{"RepoDeactivated", "RepoTakendown", "RepoSuspended",
                      "RepoNotFound"};
  for (size_t i = 1; i <= 4; ++i) {
    EXPECT_EQ(refusal(ask("getLatestCommit", i)), names[i - 1]);
    EXPECT_EQ(refusal(ask("getRepo", i)), names[i - 1]);
  }
  const auto inactive = json_of(get(ask("getRepoStatus", 1)));
  EXPECT_FALSE(inactive.at("active").as_bool());
  EXPECT_EQ(inactive.at("status").as_string(), "deactivated");
  EXPECT_FALSE(inactive.contains("rev"));
  EXPECT_EQ(refusal(ask("getRepoStatus", 4)), "RepoNotFound");
  EXPECT_EQ(refusal(xrpc(urls.hosts[0], "sync.getRepo?did=nonsense")),
            "InvalidRequest");
}

TEST_F(ServersTest, AHostDoesNotOfferWhatBelongsToRelays) {
  for (const auto* method :
       {"sync.listHosts", "sync.listReposByCollection?collection=a.b.c",
        "identity.resolveDid", "sync.subscribeRepos"})
    EXPECT_EQ(refusal(xrpc(urls.hosts[0], method), 401), "AuthMissing");
}

TEST_F(ServersTest, TheRelayKnowsHostsAndCollections) {
  const auto hosts = json_of(get(xrpc(urls.relay, "sync.listHosts")));
  EXPECT_EQ(hosts.at("hosts").as_array().size(), urls.hosts.size());
  const auto name
    = std::string{hosts.at("hosts").as_array()[1].at("hostname").as_string()};
  EXPECT_EQ("http://" + name, urls.hosts[1]);
  const auto one
    = json_of(get(xrpc(urls.relay, "sync.getHostStatus?hostname=" + name)));
  EXPECT_EQ(one.at("status").as_string(), "active");
  EXPECT_EQ(refusal(xrpc(urls.relay, "sync.getHostStatus?hostname=x.test")),
            "HostNotFound");
  std::set<std::string> wanted;
  for (size_t i = 0; i < net.truth().accounts(); ++i)
    for (const auto& x : net.truth().expected(i).records)
      if (x.path.starts_with("app.bsky.feed.post/"))
        wanted.insert(view(i).id.str());
  std::set<std::string> listed;
  for (const auto& x :
       list(xrpc(urls.relay, "sync.listReposByCollection?limit=3&collection="
                             "app.bsky.feed.post")))
    listed.insert(std::string{x.at("did").as_string()});
  EXPECT_EQ(listed, wanted);
}

TEST_F(ServersTest, RecordsCanBeReadOneByOneAndAsLists) {
  const auto expected = net.truth().expected(0);
  const auto repo = "repo=" + expected.account.id.str();
  const auto described
    = json_of(get(xrpc(host_url(0), "repo.describeRepo?" + repo)));
  EXPECT_EQ(described.at("handle").as_string(), expected.account.handle);
  std::map<std::string, std::string> found;
  for (const auto& x : described.at("collections").as_array()) {
    const auto base
      = xrpc(host_url(0), "repo.listRecords?limit=7&" + repo
                            + "&collection=" + std::string{x.as_string()});
    for (auto url = base;;) {
      const auto page = json_of(get(url));
      for (const auto& item : page.at("records").as_array())
        found[std::string{item.at("uri").as_string()}]
          = item.at("cid").as_string();
      if (!page.contains("cursor"))
        break;
      url = base + "&cursor="
            + net::percent_encode(std::string{page.at("cursor").as_string()});
    }
  }
  ASSERT_EQ(found.size(), expected.records.size());
  for (const auto& x : expected.records)
    EXPECT_EQ(found["at://" + expected.account.id.str() + "/" + x.path],
              x.id.to_text());
  const auto one = json_of(
    get(xrpc(host_url(0), "repo.getRecord?" + repo
                            + "&collection=app.bsky.actor.profile&rkey=self")));
  EXPECT_EQ(one.at("value").at("$type").as_string(), "app.bsky.actor.profile");
  EXPECT_EQ(refusal(xrpc(host_url(0), "repo.getRecord?" + repo
                                        + "&collection=a.b.c&rkey=x")),
            "RecordNotFound");
}

TEST_F(ServersTest, ARecordComesWithItsProofAndItsAbsenceToo) {
  const auto account = view(0);
  const auto base = xrpc(host_url(0), "sync.getRecord?did=" + account.id.str());
  for (const auto* path : {"&collection=app.bsky.actor.profile&rkey=self",
                           "&collection=app.bsky.actor.profile&rkey=none"}) {
    const auto x = get(base + path);
    EXPECT_EQ(x.status, 200);
    const auto car = atproto::car_slice::parse(x.body).value();
    EXPECT_TRUE(car.check_hashes());
    EXPECT_EQ(car.roots().front(), account.head);
    EXPECT_NE(car.find(account.data), nullptr);
  }
}

TEST_F(ServersTest, TheDirectoryHasDocumentsThatNameTheHostAndTheKey) {
  for (size_t i = 0; i < net.truth().accounts(); ++i) {
    const auto account = view(i);
    const auto x = get(urls.plc + "/" + account.id.str());
    EXPECT_EQ(x.status, 200);
    const auto document
      = atproto::parse_did_document(as_text(x.body), account.id);
    ASSERT_TRUE(document) << to_string(document.error());
    EXPECT_EQ(document->claimed_handle, account.handle);
    EXPECT_EQ(document->signing_key, account.signing_key);
    EXPECT_EQ(document->pds, host_url(i));
  }
  EXPECT_EQ(get(urls.plc + "/did:plc:zzzzzzzzzzzzzzzzzzzzzzzz").status, 404);
  inject(fault_kind::tombstone, 2);
  EXPECT_EQ(get(urls.plc + "/" + view(2).id.str()).status, 410);
}

TEST_F(LegacyServersTest, DocumentsInTheOldFormNameTheSameKeys) {
  for (size_t i = 0; i < net.truth().accounts(); ++i) {
    const auto account = view(i);
    const auto x = get(urls.plc + "/" + account.id.str());
    EXPECT_NE(as_text(x.body).find("VerificationKey2019"), std::string::npos);
    const auto document
      = atproto::parse_did_document(as_text(x.body), account.id);
    ASSERT_TRUE(document) << to_string(document.error());
    EXPECT_EQ(document->signing_key, account.signing_key);
  }
}

TEST_F(ServersTest, HandlesResolveByXrpcAndByWellKnownPath) {
  const auto account = view(3);
  for (const auto& base : {urls.plc, urls.hosts[0]}) {
    const auto x
      = get(xrpc(base, "identity.resolveHandle?handle=" + account.handle));
    EXPECT_EQ(json_of(x).at("did").as_string(), account.id.str());
    EXPECT_EQ(refusal(xrpc(base, "identity.resolveHandle?handle=no.test")),
              "InvalidRequest");
    EXPECT_EQ(get(base + "/.well-known/atproto-did").status, 404);
  }
}

TEST_F(ServersTest, TheHostHeaderOfAWellKnownPathIsTheHandle) {
  const simnet::site where{net.truth(), net.requests(), nullptr, "",
                           false,       true,           1'000, {}, {}};
  net::incoming_request request;
  request.headers.push_back({"host", view(4).handle + ":80"});
  const auto found = well_known_did(request, where);
  EXPECT_EQ(found.status, 200);
  EXPECT_EQ(as_text(found.body.view()), view(4).id.str());
  inject(fault_kind::remove, 4);
  EXPECT_EQ(well_known_did(request, where).status, 404);
}

TEST_F(ServersTest, ADownDirectoryComesBackWhenItIsToldTo) {
  const auto url = urls.plc + "/" + view(0).id.str();
  fault down;
  down.kind = fault_kind::directory_down;
  down.count = 0;
  ASSERT_TRUE(net.faults().inject(down));
  EXPECT_EQ(get(url).status, 503);
  EXPECT_EQ(get(url).status, 503);
  down.kind = fault_kind::directory_up;
  ASSERT_TRUE(net.faults().inject(down));
  EXPECT_EQ(get(url).status, 200);
}

TEST_F(ServersTest, AHostThatIsDownRefusesEveryCallAndOneThatHangsAnswersNone) {
  const std::array calls{
    xrpc(host_url(0), "sync.getRepo?did=" + view(0).id.str()),
    xrpc(host_url(0), "sync.getRepoStatus?did=" + view(0).id.str()),
    xrpc(host_url(0), "sync.listRepos")};
  fault x;
  x.host = view(0).host;
  x.count = 0;
  x.kind = fault_kind::host_down;
  ASSERT_TRUE(net.faults().inject(x));
  for (const auto& url : calls)
    EXPECT_EQ(get(url).status, 503) << url;
  x.kind = fault_kind::mend;
  ASSERT_TRUE(net.faults().inject(x));
  for (const auto& url : calls)
    EXPECT_EQ(get(url).status, 200) << url;
  x.kind = fault_kind::host_hang;
  x.count = 1;
  ASSERT_TRUE(net.faults().inject(x));
  EXPECT_EQ(get_error(calls[1]).code, ec::unreachable);
  EXPECT_EQ(get(calls[1]).status, 200);
}

TEST_F(ServersTest, GetRepoFailsInEachOrderedWayAndThenWorks) {
  const auto url = xrpc(host_url(0), "sync.getRepo?did=" + view(0).id.str());
  fault x;
  x.did = view(0).id.str();
  for (const auto kind : {fault_kind::failing_repo, fault_kind::rate_limit,
                          fault_kind::cut_repo, fault_kind::slow_repo}) {
    x.kind = kind;
    x.time = std::chrono::milliseconds{1500};
    ASSERT_TRUE(net.faults().inject(x));
  }
  const auto limited = get(url);
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.retry_after, std::chrono::seconds{2});
  EXPECT_EQ(get(url).status, 500);
  // The answer is cut and slow.
  const auto start = system_clock().steady_now();
  EXPECT_EQ(get_error(url).code, ec::unreachable);
  EXPECT_GE(system_clock().steady_now() - start,
            std::chrono::milliseconds{1500});
  EXPECT_EQ(get(url).status, 200);
}

} // namespace weir::tests

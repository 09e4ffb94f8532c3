#include "atproto/did_document.hpp"
#include "simnet/fault_json.hpp"
#include "tests/unit/simnet/servers_fixture.hpp"

#include <set>

// Hostile hosts and the faults of requests, seen from outside.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using simnet::fault;
using simnet::fault_kind;
using simnet::hostility;

constexpr size_t honest_hosts = 3;
constexpr size_t slow_host = honest_hosts;
constexpr size_t inventive_host = honest_hosts + 1;
constexpr size_t wide_host = honest_hosts + 2;
constexpr size_t endless_host = honest_hosts + 3;
constexpr size_t fictive_host = honest_hosts + 4;
constexpr size_t fickle_host = honest_hosts + 5;
constexpr size_t circular_host = honest_hosts + 6;

class HostileHostsTest : public ServersFixture {
protected:
  HostileHostsTest()
    : ServersFixture([] {
        auto out = small_network(system_clock());
        out.population.deactivated = 4;
        out.hostile = {{hostility::slow, 2, 4'000},
                       {hostility::inventive, 1},
                       {hostility::wide, 1},
                       {hostility::endless, 3},
                       {hostility::fictive, 1},
                       {hostility::fickle, 2},
                       {hostility::circular, 3}};
        return out;
      }()) {
    // nop
  }

  simnet::account_view someone_of(size_t host) {
    for (size_t i = 0; i < net.truth().accounts(); ++i)
      if (view(i).host == host && view(i).served())
        return view(i);
    throw std::runtime_error("nobody lives there");
  }

  std::string repo_url(const simnet::account_view& x) {
    return xrpc(urls.hosts[x.host], "sync.getRepo?did=" + x.id.str());
  }

  /// The error of a GET that must fail within these limits.
  error get_error_within(const std::string& url,
                         const net::http_call_limits& limits) {
    net::http_request request;
    request.target = net::parse_url(url).value();
    request.limits = limits;
    inbox<error> over;
    client->get(std::move(request), [&over](const auto& x) {
      over.push(x ? error{} : x.error());
    });
    return over.pop().value_or(error{});
  }

  void order(fault_kind kind, const simnet::account_view& of) {
    fault x;
    x.kind = kind;
    x.did = of.id.str();
    EXPECT_TRUE(net.faults().inject(x));
  }

  uint64_t served(fault_kind x) {
    return net.requests().served(x);
  }
};

} // namespace

TEST_F(HostileHostsTest, SomeAccountsAreDeactivatedFromTheStart) {
  std::vector<simnet::account_view> away;
  for (size_t i = 0; i < 12; ++i)
    if (view(i).status == simnet::standing::deactivated)
      away.push_back(view(i));
  ASSERT_EQ(away.size(), 4u);
  const auto answer = get(repo_url(away[0]));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(json_of(answer)["error"].as_string(), "RepoDeactivated");
  size_t listed = 0;
  for (const auto& base : urls.hosts) {
    const auto page = json_of(get(xrpc(base, "sync.listRepos")));
    for (const auto& x : page.at("repos").as_array())
      listed += !x.at("active").as_bool()
                && x.at("status").as_string() == "deactivated";
  }
  EXPECT_EQ(listed, 4u);
}

TEST_F(HostileHostsTest, ASlowHostSendsTheRepoAndThenWhatNobodyNeeds) {
  const auto url = repo_url(someone_of(slow_host));
  // The head announces 900 MB.
  EXPECT_EQ(get_error(url).code, ec::limit_reached);
  net::http_call_limits limits;
  limits.body_bytes_max = uint64_t{1} << 30;
  limits.total = 1s;
  EXPECT_EQ(get_error_within(url, limits).code, ec::unreachable);
  const auto& count = net.hostile().of(slow_host);
  EXPECT_EQ(count.downloads, 2u);
  EXPECT_GT(count.bytes, 0u);
  EXPECT_LE(count.bytes, 50'000u); // Five thousand a second on a quiet machine.
}

TEST_F(HostileHostsTest, AnEndlessDownloadGoesOnUntilTheClientHasEnough) {
  const auto why = get_error(repo_url(someone_of(endless_host)));
  EXPECT_EQ(why.code, ec::limit_reached) << to_string(why);
  EXPECT_GE(net.hostile().of(endless_host).bytes, uint64_t{1} << 28);
}

TEST_F(HostileHostsTest, AnEndlessStreamNeverWaitsForNews) {
  const auto ear = subscribe(urls.hosts[endless_host]);
  for (int i = 0; i < 1'000; ++i)
    ASSERT_TRUE(ear.ear->frames.pop());
  EXPECT_GE(net.hostile().of(endless_host).frames, 1'000u);
  // No other server gets these events.
  EXPECT_EQ(net.truth().relay_log()->newest(), 0);
}

TEST_F(HostileHostsTest, AFictiveStreamNamesAccountsThatNeverWere) {
  const auto ear = subscribe(urls.hosts[fictive_host]);
  std::set<std::string> named;
  for (int i = 0; i < 1'000; ++i) {
    const auto frame = ear.ear->frames.pop();
    ASSERT_TRUE(frame);
    const auto peek = atproto::peek_frame(frame->view());
    ASSERT_TRUE(peek);
    ASSERT_TRUE(atproto::valid_did(peek->did));
    ASSERT_TRUE(named.emplace(peek->did).second);
  }
  EXPECT_GE(net.hostile().of(fictive_host).claims, 1'000u);
  EXPECT_EQ(get(urls.plc + "/" + *named.begin()).status, 404);
}

TEST_F(HostileHostsTest, AFickleHostHasSoundRepositoriesAndAnEndlessStream) {
  const auto ear = subscribe(urls.hosts[fickle_host]);
  for (int i = 0; i < 1'000; ++i)
    ASSERT_TRUE(ear.ear->frames.pop());
  EXPECT_GE(net.hostile().of(fickle_host).frames, 1'000u);
  EXPECT_EQ(get(repo_url(someone_of(fickle_host))).status, 200);
  EXPECT_EQ(net.hostile().of(fickle_host).bytes, 0u);
}

TEST_F(HostileHostsTest, AnInventiveListingNeverEnds) {
  std::set<std::string> named;
  std::string cursor;
  for (int page = 0; page < 4; ++page) {
    const auto x = json_of(get(xrpc(urls.hosts[inventive_host],
                                    "sync.listRepos?limit=1000" + cursor)));
    for (const auto& repo : x.at("repos").as_array()) {
      const std::string did{repo.at("did").as_string()};
      ASSERT_TRUE(atproto::valid_did(did));
      ASSERT_TRUE(named.insert(did).second);
    }
    cursor = "&cursor=" + std::string{x.at("cursor").as_string()};
  }
  EXPECT_EQ(named.size(), 30'001u);
  EXPECT_EQ(net.hostile().of(inventive_host).claims, 30'000u);
  named.erase(someone_of(inventive_host).id.str());
  EXPECT_EQ(get(urls.plc + "/" + *named.begin()).status, 404);
}

TEST_F(HostileHostsTest, ACircularListingNamesItsAccountsForEver) {
  std::set<std::string> named;
  std::set<std::string> pages;
  std::string cursor;
  for (int page = 0; page < 4; ++page) {
    const auto said = get(xrpc(urls.hosts[circular_host],
                               "sync.listRepos?limit=1000" + cursor));
    const auto x = json_of(said);
    pages.insert(boost::json::serialize(x.at("repos")));
    EXPECT_GT(x.at("repos").as_array().size(), 9'900u);
    for (const auto& repo : x.at("repos").as_array())
      named.emplace(repo.at("did").as_string());
    cursor = "&cursor=" + std::string{x.at("cursor").as_string()};
  }
  EXPECT_EQ(pages.size(), 4u);
  EXPECT_EQ(named.size(), 3u);
  EXPECT_TRUE(named.contains(someone_of(circular_host).id.str()));
  EXPECT_EQ(net.hostile().of(circular_host).pages, 4u);
  EXPECT_EQ(get(repo_url(someone_of(circular_host))).status, 200);
}

TEST_F(HostileHostsTest, AnAccountOfAWideHostHasManyCollections) {
  const auto all = net.truth().expected(someone_of(wide_host).index);
  std::set<std::string> collections;
  for (const auto& x : all.records) {
    const auto name = x.path.substr(0, x.path.find('/'));
    ASSERT_TRUE(atproto::valid_nsid(name));
    collections.insert(name);
  }
  EXPECT_EQ(collections.size(), simnet::wide_collections);
  mirror copies{net.truth(), system_clock().wall_now()};
  copies.fetch(someone_of(wide_host).index); // It is valid.
}

TEST_F(HostileHostsTest, HostsOfOneAccountStandBesideThoseOfMany) {
  auto options = small_network(system_clock()).population;
  options.hosts = 6;
  options.lone_hosts = 4;
  std::map<size_t, size_t> accounts;
  for (const auto& x : simnet::make_population(options))
    ++accounts[x.host];
  for (size_t host = 2; host < 6; ++host)
    EXPECT_EQ(accounts[host], 1u);
  EXPECT_EQ(accounts[0] + accounts[1], options.accounts - 4);
}

TEST_F(HostileHostsTest, ReadsOfARepoFailInEachOrderedWay) {
  const auto who = someone_of(0);
  const auto base = urls.hosts[0];
  const auto status = xrpc(base, "sync.getRepoStatus?did=" + who.id.str());
  order(fault_kind::missing_repo, who);
  EXPECT_EQ(json_of(get(status))["error"].as_string(), "RepoNotFound");
  order(fault_kind::missing_repo, who);
  EXPECT_EQ(json_of(get(repo_url(who)))["error"].as_string(), "RepoNotFound");
  order(fault_kind::false_status, who);
  EXPECT_FALSE(json_of(get(status))["active"].as_bool());
  EXPECT_TRUE(json_of(get(status))["active"].as_bool());
  const auto whole = json_of(get(xrpc(base, "sync.listRepos")));
  order(fault_kind::unlisted_repo, who);
  const auto less = json_of(get(xrpc(base, "sync.listRepos")));
  EXPECT_EQ(less.at("repos").as_array().size() + 1,
            whole.at("repos").as_array().size());
  EXPECT_EQ(served(fault_kind::missing_repo), 2u);
  EXPECT_EQ(served(fault_kind::false_status), 1u);
  EXPECT_EQ(served(fault_kind::unlisted_repo), 1u);
}

TEST_F(HostileHostsTest, ARepoCanComeAsItWas) {
  const auto who = someone_of(0);
  const auto before = get(repo_url(who)).body;
  order(fault_kind::stale_repo, who);
  net.traffic().post(who.index);
  EXPECT_EQ(get(repo_url(who)).body, before);
  EXPECT_NE(get(repo_url(who)).body, before);
}

TEST_F(HostileHostsTest, ARepoCanComeAtARate) {
  const auto who = someone_of(0);
  const auto whole = get(repo_url(who)).body;
  fault x;
  x.kind = fault_kind::trickle_repo;
  x.rate = whole.size() * 4;
  ASSERT_TRUE(net.faults().inject(x));
  const auto start = system_clock().steady_now();
  EXPECT_EQ(get(repo_url(who)).body, whole);
  EXPECT_GE(system_clock().steady_now() - start, 200ms);
  x.kind = fault_kind::endless_repo;
  ASSERT_TRUE(net.faults().inject(x));
  EXPECT_EQ(get_error(repo_url(who)).code, ec::limit_reached);
  EXPECT_EQ(get(repo_url(who)).body, whole);
}

TEST_F(HostileHostsTest, TheDirectoryFailsInEachOrderedWay) {
  const auto who = someone_of(0);
  const auto url = urls.plc + "/" + who.id.str();
  const auto truth = get(url).body;
  order(fault_kind::directory_limit, who);
  EXPECT_EQ(get(url).retry_after, 1s);
  order(fault_kind::directory_refuse, who);
  order(fault_kind::directory_refuse, who); // A client may try again at once.
  EXPECT_EQ(get_error(url).code, ec::unreachable);
  order(fault_kind::directory_wrong, who);
  const auto wrong = json_of(get(url));
  EXPECT_NE(wrong.at("id").as_string(), who.id.str());
  order(fault_kind::directory_gone, who);
  EXPECT_EQ(get(url).status, 410);
  order(fault_kind::directory_slow, who);
  const auto start = system_clock().steady_now();
  EXPECT_EQ(get(url).body, truth);
  EXPECT_GE(system_clock().steady_now() - start, 1s);
  order(fault_kind::directory_stale, who);
  order(fault_kind::rotate_key, who);
  EXPECT_EQ(get(url).body, truth);
  EXPECT_NE(get(url).body, truth);
  EXPECT_EQ(served(fault_kind::directory_stale), 1u);
}

TEST_F(HostileHostsTest, ADirectoryThatHangsAnswersNobody) {
  const auto who = someone_of(0);
  order(fault_kind::directory_hang, who);
  net::http_call_limits limits;
  limits.first_byte = 200ms;
  const auto url = urls.plc + "/" + who.id.str();
  EXPECT_EQ(get_error_within(url, limits).code, ec::unreachable);
  EXPECT_EQ(served(fault_kind::directory_hang), 1u);
}

TEST_F(HostileHostsTest, AThrottledStreamComesAtItsRate) {
  fault x;
  x.kind = fault_kind::throttle_stream;
  x.host = 0;
  x.rate = 10'000;
  ASSERT_TRUE(net.faults().inject(x));
  const auto ear = subscribe(urls.hosts[0]);
  const auto who = someone_of(0);
  const auto start = system_clock().steady_now();
  size_t sent = 0;
  for (int i = 0; i < 4; ++i)
    net.traffic().post(who.index);
  for (int i = 0; i < 4; ++i) {
    const auto frame = ear.ear->frames.pop();
    ASSERT_TRUE(frame);
    // The server pauses after each one.
    EXPECT_GE(system_clock().steady_now() - start,
              std::chrono::microseconds{sent * 100});
    sent += frame->size();
  }
  x.rate = 0;
  ASSERT_TRUE(net.faults().inject(x));
}

TEST_F(HostileHostsTest, AnOrderEndsWithItsTimeAndWithAWord) {
  const auto url = urls.plc + "/" + someone_of(0).id.str();
  auto x = simnet::read_fault(
    R"({"kind":"directory_down","count":0,"for_ms":300})");
  ASSERT_TRUE(x);
  ASSERT_TRUE(net.faults().inject(*x));
  EXPECT_EQ(get(url).status, 503);
  while (get(url).status == 503)
    continue;
  x = simnet::read_fault(R"({"kind":"failing_repo","count":0})");
  ASSERT_TRUE(net.faults().inject(*x));
  EXPECT_EQ(get(repo_url(someone_of(0))).status, 500);
  x->kind = fault_kind::mend;
  ASSERT_TRUE(net.faults().inject(*x));
  EXPECT_EQ(get(repo_url(someone_of(0))).status, 200);
}

TEST_F(HostileHostsTest, TheRemoteControlCountsWhatWasServed) {
  EXPECT_EQ(post(urls.control + "/fault",
                 R"({"kind":"directory_limit","count":2,"time_ms":9000})")
              .status,
            200);
  EXPECT_EQ(get(urls.plc + "/x").status, 429);
  get(xrpc(urls.hosts[inventive_host], "sync.listRepos?cursor=100"));
  const auto stats = json_of(get(urls.control + "/stats"));
  EXPECT_EQ(stats.at("served").at("directory_limit").as_int64(), 1);
  const auto& all = stats.at("hostile").as_array();
  ASSERT_EQ(all.size(), simnet::hostilities);
  EXPECT_EQ(all[1].at("kind").as_string(), "inventive");
  EXPECT_EQ(all[1].at("claims").as_int64(), 10'000);
}

} // namespace weir::tests

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/host_bridges.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/journal.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/bridge_world.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

#include <gmock/gmock.h>

// SYNC-18: which accounts have records in a signal collection, at a PDS, which
// cannot list them.
namespace weir::tests {

namespace {

using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string did_number(size_t i) {
  return "did:web:r" + std::to_string(i) + ".test";
}

std::string described(const std::string& did, const std::string& collections) {
  return R"({"handle":"a.test","did":")" + did + R"(","didDoc":{},)"
         + R"("collections":[)" + collections
         + R"(],"handleIsCorrect":true})";
}

class HoldersBridgeTest : public bridge_world {
protected:
  HoldersBridgeTest() { shared->root().readers.push_back(as<reader_actor>()); }

  /// Tracks a repo that was added, or found in an earlier listing.
  void track(size_t account) {
    storage::repo_update known;
    known.repo = atproto::did::parse(did_number(account)).value();
    known.row.emplace();
    store.commit(known);
  }

  /// A page of `accounts` accounts, about which `say` gives the answers.
  listing_page ask(size_t accounts,
                   std::vector<std::string> signal = {"app.test.note"}) {
    const auto signal_is_usual = signal.front() == "app.test.note";
    lines.clear();
    for (size_t i = 0; i < accounts; ++i)
      lines += (i == 0 ? "" : ",") + line(did_number(i));
    upstream_view upstream;
    upstream.id = 7;
    upstream.origin = "https://pds.test";
    shared->upstreams.put(upstream);
    const auto filter = wire::collection_filter::parse(std::move(signal));
    if (!lister || !signal_is_usual)
      lister = make_repo_lister(client, shared, *filter);
    lister(upstream, "signal-1", cursor, as<supervisor_actor>());
    shared->stores = {shared->places(), {&rows}};
    if (auto job = next<reader_job>())
      job->run(rows);
    return next<listing_page>().value_or(listing_page{});
  }

  static std::string line(const std::string& did) {
    return R"({"did":")" + did
           + R"(","head":"x","rev":"3jzfcijpj2z2a","active":)"
           + (did == did_number(1) ? "false" : "true") + '}';
  }

  /// The accounts that the host was asked about, in order.
  std::vector<std::string> asked() const {
    std::vector<std::string> out;
    for (const auto& x : client->requests) {
      const auto target = to_string(x.target);
      constexpr std::string_view path
        = "https://pds.test/xrpc/com.atproto.repo.describeRepo?repo=did%3Aweb%3A";
      if (target.starts_with(path))
        out.push_back(target.substr(path.size()));
    }
    return out;
  }

  static std::vector<std::string> names(const std::vector<repo_listed>& x) {
    std::vector<std::string> out;
    for (const auto& each : x)
      out.push_back(each.repo.str());
    return out;
  }

  /// The host's answer about the DID in the request.
  std::function<result<net::http_response>(const std::string& did)> say
    = [](const std::string& did) {
        return answer_with(200, described(did, R"("app.test.note")"));
      };
  std::string lines;
  std::string cursor = "c1"; ///< Cursor of the requested page.
  std::string next_cursor = "c2";
  repo_lister lister;
  std::shared_ptr<scripted_client> client
    = std::make_shared<scripted_client>(
      [this](const net::http_request& x) -> result<net::http_response> {
        const auto target = to_string(x.target);
        const auto at = target.find("r", target.find("did%3Aweb%3A"));
        if (target.find("describeRepo") == std::string::npos)
          return answer_with(200, R"({"cursor":")" + next_cursor
                                    + R"(","repos":[)" + lines + "]}");
        return say("did:web:" + target.substr(at));
      });
  context_ptr shared = std::make_shared<context>();
  test_store store;
  storage::tail_cache tail{1};
  store_readers rows{*store.db, *store.names, tail};
};

} // namespace

TEST_F(HoldersBridgeTest, EachActiveAccountOfAPageIsAskedAbout) {
  say = [](const std::string& did) {
    return answer_with(200,
                       described(did, did == did_number(2)
                                        ? R"("app.test.like","app.test.note")"
                                        : R"("app.test.like")"));
  };
  const auto page = ask(4);
  EXPECT_EQ(to_string(client->requests.front().target),
            "https://pds.test/xrpc/com.atproto.sync.listRepos?limit="
              + std::to_string(limits::described_page_asked) + "&cursor=c1");
  EXPECT_THAT(asked(), ElementsAre("r0.test", "r2.test", "r3.test"));
  EXPECT_EQ(client->requests.back().limits.body_bytes_max,
            limits::describe_bytes_max);
  EXPECT_EQ(page.repos.error().code, ec::none);
  EXPECT_EQ(page.collection, "signal-1");
  EXPECT_EQ(page.cursor, "c2");
  EXPECT_THAT(names(*page.repos), ElementsAre(did_number(2)));
  EXPECT_THAT(names(page.without),
              UnorderedElementsAre(did_number(0), did_number(1),
                                   did_number(3)));
  EXPECT_EQ(page.asked, 3u);
  const auto feed = ask(1, {"app.test.*"});
  EXPECT_EQ(feed.repos->size(), 1u) << "patterns count, too";
}

// It is followed in any case, and each request costs its host.
TEST_F(HoldersBridgeTest, AnAccountThatIsTrackedIsNotAskedAbout) {
  track(0);
  track(3);
  const auto page = ask(5);
  EXPECT_THAT(asked(), ElementsAre("r2.test", "r4.test"));
  EXPECT_EQ(page.asked, 2u);
  EXPECT_THAT(names(*page.repos), ElementsAre(did_number(2), did_number(4)));
  EXPECT_THAT(names(page.without),
              ElementsAre(did_number(0), did_number(1), did_number(3)));
  track(2);
  track(4);
  EXPECT_EQ(ask(5).asked, 0u);
}

TEST_F(HoldersBridgeTest, AnEmptyPageAsksNobody) {
  const auto page = ask(0);
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(page.cursor, "") << "it is the last one";
}

// limits::describe_bytes_max
TEST_F(HoldersBridgeTest, AnAnswerHasSoManyBytesAndNotOneMore) {
  size_t size = limits::describe_bytes_max;
  say = [&](const std::string& did) {
    auto body = described(did, R"("app.test.note")");
    body.resize(size, ' ');
    return answer_with(200, body);
  };
  EXPECT_EQ(ask(1).repos->size(), 1u);
  ++size;
  const auto more = ask(1);
  EXPECT_EQ(more.repos->size(), 0u);
  EXPECT_EQ(more.without.size(), 1u);
}

TEST_F(HoldersBridgeTest, WhatIsNoAnswerIsAskedForTwice) {
  for (const auto* body :
       {"", "[]", R"({"collections":["app.test.note"]})",
        R"({"did":"did:web:other.test","collections":["app.test.note"]})",
        R"({"did":"did:web:r0.test","collections":"app.test.note"})"}) {
    client->requests.clear();
    say = [&](const std::string&) { return answer_with(200, body); };
    const auto page = ask(1);
    EXPECT_THAT(asked(), ElementsAre("r0.test", "r0.test")) << body;
    EXPECT_EQ(page.repos.error().code, ec::none);
    EXPECT_EQ(page.without.size(), 1u);
  }
  size_t answers = 0;
  say = [&](const std::string& did) {
    return answers++ == 0 ? answer_with(503, "")
                          : answer_with(200, described(did, R"("app.test.note")"));
  };
  EXPECT_EQ(ask(1).repos->size(), 1u);
}

// One account that is gone, refused or damaged does not hide others.
TEST_F(HoldersBridgeTest, AnAccountWithoutAnAnswerIsPassedOverAndCounted) {
  for (const auto status : {400, 401, 404, 500, 501, 503}) {
    lister = {};
    client->requests.clear();
    say = [status](const std::string& did) {
      return did == did_number(2) || did == did_number(3)
               ? answer_with(status, R"({"error":"InternalServerError"})")
               : answer_with(200, described(did, R"("app.test.note")"));
    };
    const auto page = ask(6);
    EXPECT_EQ(page.repos.error().code, ec::none) << status;
    EXPECT_EQ(page.unanswered, 2u);
    EXPECT_THAT(names(*page.repos),
                ElementsAre(did_number(0), did_number(4), did_number(5)));
    EXPECT_THAT(asked(), ElementsAre("r0.test", "r2.test", "r2.test", "r3.test",
                                     "r3.test", "r4.test", "r5.test"));
  }
}

// limits::describe_failures_max: a host becomes unreachable
TEST_F(HoldersBridgeTest, SoManyInARowThatNobodyAnswersFailThePage) {
  const auto failing = [this](size_t accounts) {
    lister = {};
    client->requests.clear();
    say = [accounts, last = std::string{},
           seen = size_t{0}](const std::string& did) mutable {
      seen += std::exchange(last, did) == did ? 0u : 1u;
      return seen > 1 && seen <= accounts + 1
               ? answer_with(503, "")
               : answer_with(200, described(did, R"("app.test.note")"));
    };
    return ask(9);
  };
  const auto fewer = failing(limits::describe_failures_max - 1);
  EXPECT_EQ(fewer.repos.error().code, ec::none);
  EXPECT_EQ(fewer.unanswered, limits::describe_failures_max - 1);
  const auto most = failing(limits::describe_failures_max);
  EXPECT_EQ(most.repos.error().code, ec::unreachable);
  EXPECT_FALSE(most.repos);
  EXPECT_THAT(most.without, IsEmpty());
}

TEST_F(HoldersBridgeTest, AHostThatDescribesNobodyDoesNotOfferIt) {
  for (const auto status : {401, 404, 501}) {
    client->requests.clear();
    say = [status](const std::string&) { return answer_with(status, ""); };
    EXPECT_EQ(ask(9).repos.error().code, ec::not_found) << status;
    EXPECT_EQ(asked().size(), 2 * limits::describe_failures_max);
  }
  say = [](const std::string&) { return answer_with(500, ""); };
  const auto damaged = ask(9);
  EXPECT_EQ(damaged.repos.error().code, ec::none);
  EXPECT_EQ(damaged.unanswered, 8u);
}

// They were listed as active and do not exist there: that is an answer, and
// affects no other account.
TEST_F(HoldersBridgeTest, AnAccountThatItsHostDoesNotServeIsAnAnswer) {
  for (const auto status : {400, 404})
    for (const std::string name :
         {"RepoNotFound", "RepoTakendown", "RepoSuspended", "RepoDeactivated"}) {
      client->requests.clear();
      say = [&](const std::string& did) {
        return did == did_number(9)
                 ? answer_with(200, described(did, R"("app.test.note")"))
                 : answer_with(status, R"({"error":")" + name + R"("})");
      };
      const auto page = ask(10);
      EXPECT_EQ(page.repos.error().code, ec::none) << status << name;
      EXPECT_EQ(page.unanswered, 0u);
      EXPECT_EQ(page.asked, 9u) << "each is asked about once";
      EXPECT_THAT(names(*page.repos), ElementsAre(did_number(9)));
      EXPECT_EQ(page.without.size(), 9u);
    }
}

TEST_F(HoldersBridgeTest, AHostThatKnowsNoneOfItsAccountsIsNotBelieved) {
  say = [](const std::string&) {
    return answer_with(400, R"({"error":"RepoNotFound"})");
  };
  cursor = {};
  EXPECT_EQ(ask(5).unanswered, 0u) << "not all is listed yet";
  cursor = "c2";
  next_cursor = {};
  EXPECT_EQ(ask(5).unanswered, 8u) << "of both pages";
  cursor = {};
  track(0);
  EXPECT_EQ(ask(4).unanswered, 0u) << "two of them may be gone";
  EXPECT_EQ(ask(limits::describe_absent_min + 2).unanswered,
            limits::describe_absent_min);
}

TEST_F(HoldersBridgeTest, AHostThatAsksForTimeIsLeft) {
  say = [](const std::string&) {
    auto out = answer_with(429, "");
    out.rate_limit_reset = std::chrono::seconds{90};
    return out;
  };
  const auto busy = ask(3);
  EXPECT_EQ(busy.repos.error().code, ec::unreachable) << "nothing is known yet";
  EXPECT_EQ(busy.retry_after, std::chrono::seconds{90});
  EXPECT_EQ(asked().size(), 1u);
}

// No account is asked about twice.
TEST_F(HoldersBridgeTest, APageGoesOnWhereItWasWhenItsHostHadAskedForTime) {
  size_t left = 2;
  say = [&](const std::string& did) {
    return left-- == 0 ? answer_with(429, "")
           : did == did_number(0)
             ? answer_with(400, R"({"error":"RepoNotFound"})")
             : answer_with(200, described(did, R"("app.test.note")"));
  };
  const auto busy = ask(6);
  EXPECT_EQ(busy.repos.error().code, ec::rate_limited);
  EXPECT_FALSE(busy.repos);
  left = 2;
  EXPECT_EQ(ask(6).repos.error().code, ec::rate_limited)
    << "two more are known";
  left = 2;
  const auto page = ask(6);
  EXPECT_EQ(page.repos.error().code, ec::none);
  EXPECT_EQ(page.asked, 1u);
  EXPECT_THAT(names(*page.repos),
              ElementsAre(did_number(2), did_number(3), did_number(4),
                          did_number(5)));
  EXPECT_THAT(asked(), ElementsAre("r0.test", "r2.test", "r3.test", "r3.test",
                                   "r4.test", "r5.test", "r5.test"));
  left = 100;
  EXPECT_EQ(ask(6).asked, 5u) << "the next listing asks anew";
}

// The page is requested from its host again.
TEST_F(HoldersBridgeTest, SoItDoesAfterItsHostWasAway) {
  bool is_there = true;
  say = [&](const std::string& did) {
    is_there &= did != did_number(3);
    return is_there ? answer_with(200, described(did, R"("app.test.note")"))
                    : answer_with(503, "");
  };
  EXPECT_EQ(ask(9).repos.error().code, ec::unreachable);
  client->requests.clear();
  say = [&](const std::string& did) {
    return answer_with(200, described(did, R"("app.test.note")"));
  };
  EXPECT_EQ(ask(9).repos->size(), 8u);
  EXPECT_THAT(asked(), ElementsAre("r3.test", "r4.test", "r5.test", "r6.test",
                                   "r7.test", "r8.test"));
}

} // namespace weir::tests

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "tests/system/hostile_downloads.hpp"

#include <atomic>

namespace weir::tests {

namespace {

constexpr const char* list_repos = "/xrpc/com.atproto.sync.listRepos";

std::string page(const std::string& lines, const std::string& cursor) {
  return http_answer(
    200,
    R"({"repos":[)" + lines
      + (cursor.empty() ? std::string{"]"} : R"(],"cursor":")" + cursor + '"')
      + '}');
}

/// Upstreams with their own kinds of listings, and an honest one.
class HostileListingTest : public ::testing::Test {
protected:
  struct upstream {
    upstream(std::string name, hostile_host::script listing, size_t most,
             const char* error)
      : what(std::move(name)), pages(most), fails(error) {
      host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
      host.on(list_repos, std::move(listing));
    }

    std::string what;
    std::string kind = "relay:";
    size_t pages; ///< Number of pages that are requested.
    /// A part of the error in the log. Null: the listing succeeds.
    const char* fails;
    hostile_stream stream;
    hostile_host host;
  };

  HostileListingTest() {
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    line = line_of(repo);
  }

  static std::string line_of(const test_repo& x) {
    return R"({"did":")" + x.did().str() + R"(","head":")" + x.data().to_text()
           + R"(","rev":")" + x.rev().str() + R"(","active":true})";
  }

  /// A DID that looks like any other but has no document.
  static std::string invented_did(size_t n) {
    auto out = "did:plc:" + std::string(24, 'z');
    for (auto i = out.size() - 1; n > 0; --i, n /= 25)
      out[i] = static_cast<char>('a' + n % 25);
    return out;
  }

  static std::string line_of_invented(size_t n) {
    return R"({"did":")" + invented_did(n)
           + R"(","rev":"3jzfcijpj2z2a","active":true})";
  }

  /// A directory that answers from the second request on.
  hostile_host::script answer_late(const test_repo& x, const std::string& pds) {
    const auto document
      = make_document(x.did().str(), x.key().public_part().to_multikey(), pds);
    return [this, answer = http_answer(200, document),
            first = std::make_shared<std::atomic<bool>>(true)](
             raw_peer& peer, const std::string&) {
      if (first->exchange(false))
        ++unanswered; // The connection ends without an answer.
      else
        peer.send(answer);
    };
  }

  void add(const std::string& what, hostile_host::script listing, size_t pages,
           const char* fails = nullptr) {
    all.emplace_back(what, std::move(listing), pages, fails);
  }

  /// Answers the `n`th request, from 0, with `make(n)`.
  void add_paged(const std::string& what,
                 std::function<std::string(size_t)> make, size_t pages) {
    add(
      what,
      [make = std::move(make), n = std::make_shared<std::atomic<size_t>>(0)](
        raw_peer& peer, const std::string&) {
        peer.send(make((*n)++));
      },
      pages);
  }

  void run() {
    add("honest", say(page(line, "")), 1);
    auto& honest = all.back().host;
    honest.publish_and_serve(repo);
    std::vector<std::string> urls;
    for (const auto& x : all)
      urls.push_back("relay:" + x.host.url());
    hostile_node node{urls, honest.url()};
    const auto before = node.resident_bytes();
    const auto ended = static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& x) {
        return x.fails == nullptr;
      }));
    EXPECT_TRUE(node.await_metric("weir_listing_finished_total", ended));
    EXPECT_TRUE(
      node.await_metric("weir_listing_failed_total", all.size() - ended));
    for (const auto& x : all) {
      if (x.fails == nullptr)
        EXPECT_EQ(x.host.asked(list_repos), x.pages) << x.what;
      else
        EXPECT_NE(node.log().find(x.fails), std::string::npos) << x.what;
    }
    EXPECT_EQ(node.await(repo.did(), "synced").records, 1u);
    EXPECT_LT(node.peak_bytes(), before + 64 * megabyte + memory_slack);
  }

  std::atomic<size_t> unanswered{0};
  std::list<upstream> all;
  live_repo repo{1};
  std::string line;
};

} // namespace

// hostile-inputs.md 2.1.29
TEST_F(HostileListingTest, EachListingEnds) {
  constexpr auto idle = limits::listing_idle_pages_max;
  add_paged(
    "constant cursor",
    [&](size_t) {
      return page(line, "same");
    },
    2);
  add_paged(
    "cycle of two",
    [&](size_t n) {
      return page(line, n % 2 == 0 ? "even" : "odd");
    },
    3);
  add_paged(
    "growing cursor, the same repos",
    [&](size_t n) {
      return page(line, std::to_string(n));
    },
    idle + 1);
  add_paged(
    "growing cursor, no lines",
    [](size_t n) {
      return page("", std::to_string(n));
    },
    1);
  add_paged(
    "growing cursor, lines that are none",
    [](size_t n) {
      return page(R"(7,{},[],{"did":"x"})", std::to_string(n));
    },
    idle);
  run();
}

// A line of a listing is not tracked until a document agrees.
TEST_F(HostileListingTest, InventedNamesAreNoReposAndTheirListingRests) {
  constexpr auto most = limits::claims_of_page_max;
  for (const auto* kind : {"pds:", "relay:"}) {
    add_paged(
      kind,
      [](size_t n) {
        std::string lines;
        for (size_t i = 0; i < most; ++i)
          lines += (i == 0 ? "" : ",") + line_of_invented(n * most + i);
        return page(lines, std::to_string(n));
      },
      1);
    all.back().kind = kind;
  }
  add("honest", say(page(line, "")), 1);
  auto& honest = all.back().host;
  honest.publish_and_serve(repo);
  std::vector<std::string> urls;
  for (const auto& x : all)
    urls.push_back(x.kind + x.host.url());
  hostile_node node{urls, honest.url(), {"--listing-requests-per-hour", "3600"}};
  EXPECT_EQ(node.await(repo.did(), "synced").records, 1u);
  EXPECT_TRUE(node.await_metric("weir_listing_mistrusted_total", 2));
  live_repo later{2};
  later.put("app.test.note/a", make_record("one"));
  later.commit();
  honest.publish_and_serve(later);
  honest.on(list_repos, say(page(line_of(repo) + ',' + line_of(later), "")));
  EXPECT_EQ(node.await(later.did(), "synced").records, 1u);
  for (const auto& x : all) {
    if (x.what != "honest") {
      EXPECT_EQ(x.host.asked(list_repos), 1u) << x.what;
    }
  }
  EXPECT_LT(node.metric("weir_identity_lookups_total"),
            2 * (limits::claims_judged_min + limits::claims_asked_max) + 10);
  EXPECT_EQ(node.repo(atproto::did::trusted(invented_did(0))).status, "");
  EXPECT_EQ(node.metric("weir_listing_confirmed_total"), 2u);
}

// When the directory does not answer, a claim counts neither for nor against
// its listing and is asked about again. If it counted as false, most of this
// page would be false.
TEST_F(HostileListingTest, ADirectoryThatIsAwayIsNoFaultOfAListing) {
  constexpr auto invented = limits::claims_judged_min / 2;
  constexpr size_t late = 2;
  add("honest", {}, 1);
  auto& host = all.back().host;
  hostile_host directory;
  std::string lines;
  std::list<live_repo> there;
  for (size_t i = 0; i < invented + 1; ++i) {
    auto& x = there.emplace_back(100 + i);
    x.put("app.test.note/a", make_record("one"));
    x.commit();
    host.serve(x);
    directory.publish(x, host.url());
    if (i < late)
      directory.on_document(x.did(), answer_late(x, host.url()));
    lines += line_of(x) + ',';
  }
  for (size_t i = 0; i < invented; ++i)
    lines += line_of_invented(i) + (i + 1 < invented ? "," : "");
  host.on(list_repos, say(page(lines, "")));
  hostile_node node{{"pds:" + host.url()},
                    directory.url(),
                    {"--listing-requests-per-hour", "1"}};
  for (const auto& x : there)
    EXPECT_EQ(node.await(x.did(), "synced").records, 1u);
  EXPECT_EQ(unanswered, late);
  EXPECT_EQ(node.metric("weir_listing_mistrusted_total"), 0u);
  EXPECT_EQ(node.metric("weir_listing_confirmed_total"), there.size());
  EXPECT_EQ(host.asked(list_repos), 1u) << "the next listing had found them";
}

// limits::listing_page_max, listing_bytes_max
TEST_F(HostileListingTest, PagesAreTakenUpToTheirLimitsAndNotAbove) {
  const auto lines = [](size_t count) {
    std::string out = "{}";
    for (size_t i = 1; i < count; ++i)
      out += ",{}";
    return say(page(out, ""));
  };
  const auto padded = [&](size_t size) {
    std::string body = R"({"repos":[)" + line + "]}";
    body.resize(size, ' ');
    return say(http_answer(200, body));
  };
  const auto most = limits::listing_page_max;
  add("as many lines as may be", lines(most), 1);
  add("a line too many", lines(most + 1), 1, "10001 repos on one page");
  add("as many bytes as may be", padded(limits::listing_bytes_max), 1);
  add("a byte too many", padded(limits::listing_bytes_max + 1), 1,
      "limit_reached: the answer's body is too large");
  add("nested too deep",
      say(http_answer(200, R"({"repos":)" + std::string(1'000'000, '['))), 1,
      "not a listing of repos");
  add("no listing", say(http_answer(200, "[]")), 1, "not a listing of repos");
  add("to another origin",
      say(http_answer(302, {}, "Location: http://169.254.169.254/\r\n")), 1,
      "redirect");
  run();
}

} // namespace weir::tests

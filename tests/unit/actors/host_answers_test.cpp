#include "actors/supervisor/host_answers.hpp"
#include "actors/supervisor/limits.hpp"

#include <gtest/gtest.h>

namespace weir::tests::read_answers {

namespace {

using namespace std::chrono_literals;
using namespace weir::actors;
using storage::account_status;
using told = account_answer::kind;

const auto asked_did
  = atproto::did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").value();
constexpr std::string_view asked_rev = "3jzfcijpj2z2a";

struct status_read {
  account_answer out;
  bool lacks_rev = false;
};

status_read read_about(const result<host_answer>& x) {
  status_read got;
  got.out.repo = asked_did;
  got.lacks_rev = read_repo_status(x, got.out);
  return got;
}

status_read read_body(std::string_view rest) {
  const auto body
    = R"({"did":")" + asked_did.str() + R"(",)" + std::string{rest} + '}';
  return read_about(host_answer{200, 0s, body});
}

/// What is known after getLatestCommit was answered, if getRepoStatus was not
/// offered.
account_answer read_rev(const result<host_answer>& x) {
  account_answer out;
  out.what = told::useless;
  read_latest_commit(x, out);
  return out;
}

listing_page read_page_of(const result<host_answer>& x,
                          std::string collection = {}) {
  upstream_view before;
  before.id = 7;
  before.epoch = 1;
  before.received = 90;
  listing_page out;
  out.upstream = before.id;
  out.collection = std::move(collection);
  read_listing(x, before, out);
  return out;
}

} // namespace

// protocol-coverage.md 4.5
TEST(host_answers, a_host_says_what_the_account_is) {
  const auto active = read_body(R"("active":true,"rev":"3jzfcijpj2z2a")");
  EXPECT_EQ(active.out.what, told::stated);
  EXPECT_EQ(active.out.account, account_status::active);
  EXPECT_EQ(active.out.rev.str(), asked_rev);
  EXPECT_FALSE(active.lacks_rev);
  const auto away = read_body(R"("active":false,"status":"suspended")");
  EXPECT_EQ(away.out.what, told::stated);
  EXPECT_EQ(away.out.account, account_status::suspended);
  EXPECT_FALSE(away.lacks_rev) << "it has none";
  EXPECT_TRUE(read_body(R"("active":true)").lacks_rev);
  const auto unknown = read_body(R"("active":1)");
  EXPECT_EQ(unknown.out.what, told::useless);
  EXPECT_TRUE(unknown.lacks_rev);
}

// protocol-coverage.md 4.5: only RepoNotFound says that the repo is gone.
TEST(host_answers, a_refusal_counts_by_its_name) {
  for (const auto status : {400, 404}) {
    const auto refused = [status](std::string_view body) {
      return read_about(host_answer{status, 0s, body});
    };
    const auto gone = refused(R"({"error":"RepoNotFound"})");
    EXPECT_EQ(gone.out.what, told::not_found);
    EXPECT_FALSE(gone.lacks_rev);
    const auto taken = refused(R"({"error":"RepoTakendown"})");
    EXPECT_EQ(taken.out.what, told::stated);
    EXPECT_EQ(taken.out.account, account_status::takendown);
    const auto other = refused(R"({"error":"InvalidRequest"})");
    EXPECT_EQ(other.out.what, told::useless);
    EXPECT_TRUE(other.lacks_rev);
    EXPECT_EQ(refused("no such page").out.what, told::useless);
  }
  const auto elsewhere
    = read_about(host_answer{401, 0s, R"({"error":"RepoNotFound"})"});
  EXPECT_EQ(elsewhere.out.what, told::useless);
}

TEST(host_answers, a_busy_host_has_not_answered) {
  for (const auto status : {429, 500, 501, 503}) {
    const auto x = read_about(host_answer{status, 17s, "{}"});
    EXPECT_EQ(x.out.what, told::failed) << status;
    EXPECT_EQ(x.out.retry_after, 17s);
    EXPECT_FALSE(x.lacks_rev);
  }
  const auto away = read_about(fail(ec::unreachable, "nobody"));
  EXPECT_EQ(away.out.what, told::failed);
  EXPECT_FALSE(away.lacks_rev);
}

// completeness.md, Acting: a busy host is not a reason to fetch.
TEST(host_answers, a_rev_is_known_or_never_or_later) {
  const auto known
    = read_rev(host_answer{200, 0s, R"({"rev":"3jzfcijpj2z2a"})"});
  EXPECT_EQ(known.what, told::stated);
  EXPECT_EQ(known.rev.str(), asked_rev);
  for (const auto& never :
       {host_answer{200, 0s, "{}"}, host_answer{200, 0s, "[]"},
        host_answer{400, 9s, ""}, host_answer{404, 9s, ""},
        host_answer{501, 9s, ""}}) {
    const auto x = read_rev(never);
    EXPECT_EQ(x.what, told::useless) << never.status << never.body;
    EXPECT_EQ(x.retry_after, 0s);
  }
  for (const auto status : {408, 429, 500, 503}) {
    const auto x = read_rev(host_answer{status, 9s, ""});
    EXPECT_EQ(x.what, told::failed) << status;
    EXPECT_EQ(x.retry_after, 9s);
  }
  EXPECT_EQ(read_rev(host_answer{200, 9s, "<html>"}).what, told::failed);
  EXPECT_EQ(read_rev(fail(ec::unreachable, "nobody")).what, told::failed);
}

// protocol-coverage.md 9.1
TEST(host_answers, a_page_has_the_lines_that_are_repos) {
  constexpr std::string_view body = R"({"cursor":"a b","repos":[
    {"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz","rev":"3jzfcijpj2z2a"},
    {"did":"did:web:b.test","active":false,"status":"takendown"},
    {"did":"nonsense","rev":"3jzfcijpj2z2a"},7]})";
  const auto page = read_page_of(host_answer{200, 30s, body});
  ASSERT_EQ(page.repos.error().code, ec::none);
  ASSERT_EQ(page.repos->size(), 1u);
  EXPECT_EQ(page.repos->at(0).repo, asked_did);
  EXPECT_EQ(page.repos->at(0).rev.str(), asked_rev);
  EXPECT_EQ(page.repos->at(0).upstream, 7u);
  EXPECT_EQ(page.repos->at(0).asked_at, (position{7, 1, 90}));
  EXPECT_EQ(page.cursor, "a b");
  EXPECT_EQ(page.retry_after, 0s) << "it answers";
  const auto of_collection = read_page_of(host_answer{200, 0s, body}, "a.b.c");
  ASSERT_EQ(of_collection.repos->size(), 2u) << "those lines have no rev";
  EXPECT_EQ(of_collection.repos->at(1).account, account_status::takendown);
}

TEST(host_answers, an_empty_page_is_the_last_one) {
  const auto page
    = read_page_of(host_answer{200, 0s, R"({"cursor":"again","repos":[]})"});
  EXPECT_EQ(page.repos.error().code, ec::none);
  EXPECT_EQ(page.cursor, "");
}

// limits::listing_page_max
TEST(host_answers, a_page_has_so_many_lines_and_not_one_more) {
  std::string lines = "0";
  for (size_t i = 1; i < limits::listing_page_max; ++i)
    lines += ",0";
  const auto page_with = [](const std::string& x) {
    const auto body = R"({"repos":[)" + x + "]}";
    return read_page_of(host_answer{200, 0s, body}).repos.error().code;
  };
  EXPECT_EQ(page_with(lines), ec::none);
  EXPECT_EQ(page_with(lines + ",0"), ec::limit_reached);
}

// protocol-coverage.md 9.2
TEST(host_answers, a_listing_that_is_not_offered_is_told_from_one_that_failed) {
  const auto code_of = [](const result<host_answer>& x) {
    return read_page_of(x).repos.error().code;
  };
  for (const auto status : {401, 404, 501})
    EXPECT_EQ(code_of(host_answer{status, 0s, ""}), ec::not_found) << status;
  EXPECT_EQ(code_of(host_answer{400, 0s, ""}), ec::malformed);
  for (const auto status : {403, 429, 500, 503})
    EXPECT_EQ(code_of(host_answer{status, 0s, ""}), ec::unreachable) << status;
  for (const auto* body : {"", "[]", R"({"repos":1})", "<html>"})
    EXPECT_EQ(code_of(host_answer{200, 0s, body}), ec::malformed) << body;
  EXPECT_EQ(code_of(fail(ec::not_found, "no such name")), ec::unreachable);
  EXPECT_EQ(code_of(fail(ec::limit_reached, "large")), ec::limit_reached);
}

TEST(host_answers, a_host_that_asks_for_time_is_heard) {
  for (const auto status : {429, 500, 503})
    EXPECT_EQ(read_page_of(host_answer{status, 30s, ""}).retry_after, 30s);
  EXPECT_EQ(read_page_of(host_answer{404, 30s, ""}).retry_after, 0s);
}

} // namespace weir::tests::read_answers

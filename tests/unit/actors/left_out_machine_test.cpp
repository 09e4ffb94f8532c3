#include "actors/supervisor/left_out_machine.hpp"

#include "storage/tables/limits.hpp"
#include "tests/unit/actors/upstream_views.hpp"

#include <gtest/gtest.h>

/// What follows when a listing leaves repos out (protocol-coverage.md 4.5, 9).
namespace weir::tests {
namespace {

using namespace weir::actors;

constexpr auto missing_host = "https://pds.test";
constexpr steady_time missing_since{1'000'000};
constexpr wall_time listed_at{1'000'000'000};

atproto::did missing_did(int n) {
  return atproto::did::trusted("did:web:m" + std::to_string(n) + ".test");
}

repo_listed named_line(int n) {
  repo_listed out;
  out.repo = missing_did(n);
  return out;
}

struct left_out_world {
  left_out_world() {
    board.put(quiet_upstream(relay_id, "https://relay.test", 1, 7));
  }

  /// A row that a listing of the relay should name.
  void add(int n) {
    auto& row = rows.emplace_back(missing_did(n), storage::repo_row{}).second;
    row.status = storage::repo_status::synced;
    row.pds = missing_host;
    row.last_indexed_rev = atproto::tid{7 << 20};
    row.fcsr = {relay_id, 1, 7};
  }

  left_out_page pick(const left_out_scans::scan& scan) const {
    return left_out_machine::pick(scan, rows, board, listed_at);
  }

  left_out_machine::verdict judge(const left_out_page::repo& x,
                                  bool relay = true) {
    return machine.on_left_out(relay ? relay_id : pds_id, relay, x,
                               missing_since);
  }

  question_machine questions{question_options{}};
  completeness_budget budget;
  left_out_machine machine{questions, budget, 100, 100};
  upstream_board board;
  std::vector<std::pair<atproto::did, storage::repo_row>> rows;
};

TEST(left_out_machine, a_whole_listing_is_followed_by_a_search) {
  left_out_world x;
  for (int n = 1; n <= 3; ++n)
    x.add(n);
  x.rows[2].second.left_out_by = relay_id;
  x.machine.on_begin(relay_id, listed_at);
  x.machine.on_lines(relay_id, {named_line(1)});
  EXPECT_FALSE(x.machine.next()) << "it is under way";
  x.machine.on_whole(relay_id, {});
  const auto scan = x.machine.next();
  ASSERT_TRUE(scan);
  const auto page = x.pick(*scan);
  EXPECT_EQ(page.upstream, relay_id);
  ASSERT_EQ(page.repos->size(), 2u);
  EXPECT_EQ((*page.repos)[0].id, missing_did(2));
  EXPECT_FALSE((*page.repos)[0].is_known);
  EXPECT_FALSE((*page.repos)[0].noted.defined()) << "its copy is proved";
  EXPECT_TRUE((*page.repos)[1].is_known);
  EXPECT_EQ(page.next, missing_did(3));
  EXPECT_TRUE(page.end);
  x.machine.on_page(page.next, page.end);
  EXPECT_FALSE(x.machine.next());
}

// limits::repos_page_max: a shorter page is the last one
TEST(left_out_machine, a_full_page_is_followed_by_another) {
  left_out_world x;
  x.machine.on_begin(relay_id, listed_at);
  x.machine.on_whole(relay_id, {});
  const auto scan = x.machine.next();
  ASSERT_TRUE(scan);
  x.rows.resize(limits::repos_page_max - 1);
  EXPECT_TRUE(x.pick(*scan).end);
  x.rows.resize(limits::repos_page_max);
  EXPECT_FALSE(x.pick(*scan).end);
}

TEST(left_out_machine, a_listing_whose_begin_was_not_seen_proves_nothing) {
  left_out_world x;
  x.machine.on_lines(relay_id, {named_line(1)});
  x.machine.on_whole(relay_id, {});
  EXPECT_FALSE(x.machine.next());
}

// A repo of a host that lists all it has proves nothing by its absence from a
// relay's listing; it does once the listing of the host has failed.
TEST(left_out_machine, a_host_speaks_for_its_repos_while_its_listing_works) {
  left_out_world x;
  x.board.put(quiet_upstream(pds_id, missing_host, 1, 7));
  x.add(1);
  const auto found = [&x](uint32_t upstream, std::string pds) {
    x.machine.on_begin(upstream, listed_at);
    x.machine.on_whole(upstream, std::move(pds));
    const auto scan = x.machine.next();
    const auto page = x.pick(scan.value());
    x.machine.on_page(page.next, page.end);
    return page.repos->size();
  };
  EXPECT_EQ(found(pds_id, missing_host), 1u);
  EXPECT_EQ(found(relay_id, {}), 0u);
  x.machine.on_failed(pds_id);
  EXPECT_EQ(found(relay_id, {}), 1u);
}

// limits::known_absence_memory
TEST(left_out_machine, a_relay_that_does_not_carry_a_repo_is_noted) {
  left_out_world x;
  const left_out_page::repo repo{missing_did(1), missing_host};
  auto first = x.judge(repo);
  EXPECT_FALSE(first.note) << "it may have been overlooked";
  ASSERT_TRUE(first.ask);
  EXPECT_TRUE(first.ask->left_out);
  EXPECT_FALSE(first.ask->prove);
  EXPECT_TRUE(x.machine.all_covered(x.board));
  x.machine.on_answered(repo.id, repo.pds);
  const auto second = x.judge(repo);
  EXPECT_TRUE(second.note);
  EXPECT_FALSE(second.ask);
  EXPECT_FALSE(x.machine.all_covered(x.board));
  auto known = repo;
  known.is_known = true;
  EXPECT_FALSE(x.judge(known).note) << "the row says so";
}

TEST(left_out_machine, a_pds_is_asked_each_time) {
  left_out_world x;
  const left_out_page::repo repo{missing_did(1), missing_host};
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(x.judge(repo, false).ask);
    x.machine.on_answered(repo.id, repo.pds);
  }
}

// CONS-29: a stale position is proved by the answer, once
TEST(left_out_machine, a_question_may_prove_the_copy) {
  left_out_world x;
  const left_out_page::repo repo{missing_did(1), missing_host,
                                 {relay_id, 1, 7}};
  const auto verdict = x.judge(repo);
  ASSERT_TRUE(verdict.ask);
  EXPECT_TRUE(verdict.ask->prove);
  EXPECT_EQ(verdict.ask->noted, repo.noted);
  x.questions.on_question(*verdict.ask, missing_since);
  x.machine.on_answered(repo.id, repo.pds);
  EXPECT_FALSE(x.judge(repo).ask) << "this question is open";
}

// limits::uncovered_asked_per_host
TEST(left_out_machine, proofs_share_the_budget_of_their_host) {
  left_out_world x;
  const left_out_page::repo repo{missing_did(1), missing_host,
                                 {relay_id, 1, 7}};
  for (size_t i = 1; i < limits::uncovered_asked_per_host; ++i)
    x.budget.may_ask(missing_host, missing_since);
  EXPECT_TRUE(x.judge(repo).ask->prove);
  EXPECT_FALSE(x.judge(repo).ask->prove);
}

TEST(left_out_machine, without_a_relay_hosts_that_are_not_followed_are_open) {
  left_out_world x;
  EXPECT_TRUE(x.machine.all_covered(x.board));
  EXPECT_FALSE(x.machine.all_covered(upstream_board{}));
  completeness_count seen;
  x.machine.on_counted(seen);
  EXPECT_TRUE(x.machine.all_covered(x.board));
  seen.without[completeness::covered_term] = 1;
  x.machine.on_counted(seen);
  EXPECT_FALSE(x.machine.all_covered(x.board));
  x.machine.on_counted({});
  EXPECT_FALSE(x.machine.all_covered(x.board)) << "the relay may not have it";
}

TEST(left_out_machine, a_page_that_cannot_be_read_says_why) {
  const left_out_world x;
  left_out_scans::scan scan;
  scan.upstream = relay_id;
  const auto page
    = left_out_machine::pick(scan, fail(ec::storage_failure, "damaged"),
                             x.board, listed_at);
  EXPECT_EQ(page.upstream, relay_id);
  ASSERT_FALSE(page.repos);
  EXPECT_EQ(page.repos.error().code, ec::storage_failure);
}

} // namespace
} // namespace weir::tests

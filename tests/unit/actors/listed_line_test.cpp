#include "actors/supervisor/listed_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir::tests {
namespace {

using namespace actors;
using namespace std::chrono_literals;

// CONS-24, CONS-25: a REPO is not woken without need
TEST(listed_line, is_news_when_it_differs_from_a_repo_that_is_in_sync) {
  const upstream_board board;
  repo_listed line;
  storage::repo_row row;
  row.status = storage::repo_status::synced;
  storage::chain_row chain;
  EXPECT_FALSE(is_news(line, row, &chain, board)) << "it has no rev";
  line.rev = chain.rev = atproto::tid{1'000'000};
  EXPECT_FALSE(is_news(line, row, &chain, board));
  chain.rev = atproto::tid{2'000'000};
  EXPECT_TRUE(is_news(line, row, &chain, board));
  EXPECT_TRUE(is_news(line, row, nullptr, board));
  row.status = storage::repo_status::desync; // It is fetched in any case.
  EXPECT_FALSE(is_news(line, row, &chain, board));
  line.account = storage::account_status::takendown;
  EXPECT_TRUE(is_news(line, row, &chain, board));
  line.account = storage::account_status::active;
  row.words.relays = {{storage::account_status::takendown, {9, 1, 5}}};
  EXPECT_TRUE(is_news(line, row, &chain, board)) << "nobody follows that relay";
}

TEST(listed_line, is_news_of_a_repo_that_its_relay_left_out) {
  const upstream_board board;
  storage::repo_row row;
  row.status = storage::repo_status::synced;
  row.left_out_by = 7;
  storage::chain_row chain;
  repo_listed line;
  line.rev = chain.rev = atproto::tid{1'000'000};
  EXPECT_FALSE(is_news(line, row, &chain, board));
  line.upstream = 7;
  EXPECT_TRUE(is_news(line, row, &chain, board));
}

// CONS-25, ADR 20: the REPO decides whether enough time has passed.
TEST(listed_line, is_news_when_the_copy_lacks_a_rev_that_it_may_take_back) {
  upstream_board board;
  upstream_view host;
  host.id = 2;
  host.origin = "https://pds.test";
  board.put(host);
  host.id = 3;
  host.origin = "https://other.test";
  board.put(host);
  storage::repo_row row;
  row.status = storage::repo_status::synced;
  row.pds = "https://pds.test";
  row.fcsr = {2, 1, 10};
  repo_listed line;
  line.upstream = 2;
  line.noted = {2, 1, 10};
  storage::chain_row chain;
  line.rev = chain.rev = row.first_rev = atproto::tid{1'000'000};
  EXPECT_FALSE(is_news(line, row, &chain, board));
  row.first_rev = atproto::tid{2'000'000};
  EXPECT_TRUE(is_news(line, row, &chain, board));
  line.noted = {};
  EXPECT_FALSE(is_news(line, row, &chain, board)) << "it proves nothing";
  line.noted = {2, 1, 10};
  row.pds = "https://other.test";
  EXPECT_FALSE(is_news(line, row, &chain, board)) << "it is no more there";
}

// protocol-coverage.md 4.t7: a host may list its tombstoned accounts for ever
TEST(listed_line, denies_a_tombstone_once_a_day) {
  const std::string pds = "https://pds.test";
  upstream_board board;
  upstream_view host;
  host.id = 2;
  host.origin = pds;
  board.put(host);
  upstream_view relay;
  relay.id = 1;
  relay.relay = true;
  repo_listed line;
  line.upstream = host.id;
  storage::repo_row row;
  row.pds = pds;
  row.words.tombstoned = true;
  EXPECT_FALSE(denies_tombstone(line, row, board)) << "it names it, no more";
  line.rev = atproto::tid{1'000'000};
  EXPECT_TRUE(denies_tombstone(line, row, board));
  EXPECT_FALSE(is_news(line, row, nullptr, board));
  row.pds = "https://other.test";
  EXPECT_FALSE(denies_tombstone(line, row, board)) << "it is no more there";
  board.put(relay);
  line.upstream = relay.id;
  EXPECT_TRUE(denies_tombstone(line, row, board)) << "nobody else can say it";
  row.pds = pds;
  EXPECT_FALSE(denies_tombstone(line, row, board)) << "its host does";
  line.upstream = host.id;
  line.account = storage::account_status::deactivated;
  EXPECT_TRUE(denies_tombstone(line, row, board)) << "it can come back";
  line.account = storage::account_status::deleted;
  EXPECT_FALSE(denies_tombstone(line, row, board));
  const wall_time now{1'000'000'000'000'000};
  storage::identity_row tombstone;
  tombstone.fetched_at = now.seconds();
  const std::optional stored{tombstone};
  EXPECT_FALSE(is_due_again(stored, now + 24h + -1s));
  EXPECT_TRUE(is_due_again(stored, now + 24h));
  EXPECT_TRUE(is_due_again(fail(ec::storage_failure, "damaged"), now));
}

// CONS-24, CONS-25: what becomes of it
TEST(listed_line, goes_to_its_repo_if_it_is_news_there) {
  upstream_board board;
  upstream_view host;
  host.id = 2;
  host.origin = "https://pds.test";
  board.put(host);
  const wall_time now{1'000'000'000'000'000};
  repo_listed line;
  line.upstream = host.id;
  line.rev = atproto::tid{1'000'000};
  size_t looks = 0;
  std::optional<storage::identity_row> stored{std::in_place};
  const auto fate = [&](const result<compared_rows>& rows) {
    return fate_of(line, rows, board, now, [&] {
      ++looks;
      return result<std::optional<storage::identity_row>>{stored};
    });
  };
  EXPECT_EQ(fate(fail(ec::storage_failure, "damaged")), line_fate::give);
  EXPECT_EQ(fate(compared_rows{}), line_fate::claim);
  compared_rows known;
  known.row.emplace();
  known.row->pds = host.origin;
  known.row->status = storage::repo_status::synced;
  EXPECT_EQ(fate(known), line_fate::give);
  storage::chain_row chain;
  chain.rev = line.rev;
  known.chain = std::make_shared<const storage::chain_row>(chain);
  EXPECT_EQ(fate(known), line_fate::drop);
  EXPECT_EQ(looks, 0u) << "there is no tombstone";
  known.row->words.tombstoned = true;
  EXPECT_EQ(fate(known), line_fate::give);
  EXPECT_EQ(looks, 1u);
  stored->fetched_at = now.seconds();
  EXPECT_EQ(fate(known), line_fate::drop) << "it was denied a moment ago";
}

/// What a host said of a repo in sync, and what is stored of the repo.
struct compared_answer {
  compared_answer() {
    storage::chain_row chain;
    chain.rev = answer.rev = atproto::tid{1'000};
    rows.chain = std::make_shared<const storage::chain_row>(chain);
    answer.pds = row().pds = "https://pds.test";
    row().status = storage::repo_status::synced;
  }

  storage::repo_row& row() { return *rows.row; }

  bool is_news() {
    return actors::is_news(answer, result<compared_rows>{rows}, now, [this] {
      ++looks;
      return result<std::optional<storage::identity_row>>{tombstone};
    });
  }

  compared_rows rows{storage::repo_row{}, {}};
  account_said answer;
  std::optional<storage::identity_row> tombstone{std::in_place};
  wall_time now{1'000'000'000'000'000};
  size_t looks = 0;
};

TEST(compared_answer, that_says_what_is_stored_wakes_nobody) {
  compared_answer x;
  const auto says = [&x](atproto::tid rev, storage::account_status account
                                           = storage::account_status::active) {
    x.answer.rev = rev;
    x.answer.account = account;
    return x.is_news();
  };
  const atproto::tid rev{1'000};
  EXPECT_FALSE(says(rev));
  EXPECT_FALSE(says({})) << "it did not say its rev";
  EXPECT_FALSE(says(atproto::tid{999}));
  EXPECT_TRUE(says(atproto::tid{1'001}));
  EXPECT_TRUE(says(rev, storage::account_status::deactivated));
  x.row().words.host = storage::account_status::deactivated;
  EXPECT_TRUE(says(rev));
  EXPECT_FALSE(says({}, storage::account_status::deactivated));
  x.row().not_found_at = 5;
  EXPECT_TRUE(says({}, storage::account_status::deactivated)) << "this ends it";
}

TEST(compared_answer, of_a_repo_that_is_fetched_anyway_has_no_newer_rev) {
  compared_answer x;
  x.answer.rev = atproto::tid{1'001};
  x.row().status = storage::repo_status::desync;
  EXPECT_FALSE(x.is_news());
  x.row().status = storage::repo_status::synced;
  x.rows.chain.reset();
  EXPECT_TRUE(x.is_news()) << "nothing is stored of its content";
}

TEST(compared_answer, of_a_former_host_is_nothing_new) {
  compared_answer x;
  x.answer.rev = atproto::tid{1'001};
  x.answer.account = storage::account_status::deactivated;
  ASSERT_TRUE(x.is_news());
  x.row().pds = "https://other.test";
  EXPECT_FALSE(x.is_news());
}

TEST(compared_answer, is_left_to_the_repo_when_its_rows_cannot_be_read) {
  const auto is_news_for = [](const result<compared_rows>& rows) {
    return is_news(account_said{}, rows, wall_time{}, [] {
      return result<std::optional<storage::identity_row>>{std::nullopt};
    });
  };
  EXPECT_TRUE(is_news_for(fail(ec::storage_failure, "damaged")));
  EXPECT_FALSE(is_news_for(compared_rows{})) << "it was removed";
}

// protocol-coverage.md 4.t7: only the current host is believed, once a day
TEST(compared_answer, that_denies_a_tombstone_is_news) {
  compared_answer x;
  EXPECT_FALSE(x.is_news());
  EXPECT_EQ(x.looks, 0u) << "there is no tombstone";
  x.row().words.tombstoned = true;
  EXPECT_TRUE(x.is_news());
  EXPECT_EQ(x.looks, 1u);
  x.tombstone->fetched_at = x.now.seconds();
  EXPECT_FALSE(x.is_news()) << "it was denied a moment ago";
  x.tombstone.reset();
  EXPECT_TRUE(x.is_news());
  x.answer.account = x.row().words.host = storage::account_status::deleted;
  EXPECT_FALSE(x.is_news()) << "it agrees with the directory";
  x.answer.account = x.row().words.host = storage::account_status::active;
  x.answer.pds = "https://former.test";
  EXPECT_FALSE(x.is_news());
}

} // namespace
} // namespace weir::tests

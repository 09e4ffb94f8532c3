#include "actors/supervisor/left_out_scans.hpp"

#include "tests/unit/actors/upstream_views.hpp"

#include <gtest/gtest.h>

/// Repos that a listing left out (protocol-coverage.md 4.5, 9).
namespace weir::tests {
namespace {

using namespace weir::actors;

atproto::did row_did(int n) {
  return atproto::did::trusted("did:plc:row" + std::to_string(n));
}

left_out_scans::scan scan_of(uint32_t upstream, std::string pds = {}) {
  left_out_scans::scan out;
  out.upstream = upstream;
  out.pds = std::move(pds);
  return out;
}

bool always(const std::string&) {
  return true;
}

TEST(left_out_scans, upstreams_are_searched_page_by_page_in_turn) {
  left_out_scans x;
  x.add(scan_of(1));
  x.add(scan_of(2));
  for (const uint32_t upstream : {1u, 2u, 1u, 2u}) {
    const auto next = x.next(always);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->upstream, upstream);
    EXPECT_FALSE(x.next(always)) << "one page at a time";
    x.on_page(row_did(5), false);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(x.next(always)->after, row_did(5));
    x.on_page(row_did(6), true);
  }
  EXPECT_EQ(x.size(), 0u);
}

TEST(left_out_scans, one_whose_questions_find_no_room_holds_up_no_other) {
  left_out_scans x;
  x.add(scan_of(1, "https://full.test"));
  x.add(scan_of(2));
  const auto room = [](const std::string& pds) {
    return pds != "https://full.test";
  };
  EXPECT_EQ(x.next(room)->upstream, 2u);
  x.on_page(row_did(1), true);
  EXPECT_FALSE(x.next(room));
  EXPECT_EQ(x.next(always)->upstream, 1u);
}

TEST(left_out_scans, the_next_search_begins_where_there_was_no_room) {
  left_out_scans x;
  x.add(scan_of(1));
  x.next(always);
  x.on_shortage(row_did(3));
  x.on_shortage(row_did(4));
  x.on_page(row_did(5), true);
  x.add(scan_of(1));
  EXPECT_EQ(x.next(always)->after, row_did(3));
  x.on_page(row_did(5), true);
  EXPECT_EQ(x.next(always)->after, atproto::did{}) << "then the others";
  x.on_page(row_did(3), false);
  EXPECT_EQ(x.size(), 0u);
  x.add(scan_of(1));
  EXPECT_EQ(x.next(always)->after, atproto::did{});
}

TEST(left_out_scans, one_of_a_later_listing_goes_on_where_the_other_was) {
  left_out_scans x;
  x.add(scan_of(1));
  x.next(always);
  x.on_page(row_did(2), false);
  x.add(scan_of(1));
  EXPECT_EQ(x.size(), 1u);
  EXPECT_EQ(x.next(always)->after, row_did(2));
  x.add(scan_of(1)); // This happens while one of its pages is read.
  x.on_page(row_did(4), false);
  EXPECT_EQ(x.size(), 1u);
  EXPECT_EQ(x.next(always)->after, row_did(2));
}

/// A repo of `pds` that was fetched long ago.
storage::repo_row row_at(std::string pds) {
  storage::repo_row out;
  out.pds = std::move(pds);
  out.last_indexed_rev = *atproto::tid::parse("3jzfcijpj2z2a");
  return out;
}

/// A complete listing of the second relay; the first one is disconnected.
struct second_relay {
  second_relay() {
    follow(1, "https://dead.test", true, false);
    follow(2, "https://relay.test", true, true);
    auto census = std::make_shared<listing_census>(100, 1);
    census->add(atproto::stable_hash(row_did(1).str()));
    census->close();
    scan = scan_of(2);
    scan.since = 1'000;
    scan.named = census;
  }

  void follow(uint32_t id, std::string origin, bool relay, bool connected) {
    upstream_view view;
    view.id = id;
    view.origin = std::move(origin);
    view.relay = relay;
    view.connected = connected;
    board.put(view);
  }

  bool leaves_out(int n, std::string pds = "https://pds.test") const {
    return left_out_scans::is_left_out(scan, row_did(n), row_at(std::move(pds)),
                                       board, wall_time{2'000 * 1'000'000});
  }

  upstream_board board;
  left_out_scans::scan scan;
};

// protocol-coverage.md 4.5: it counts even if another relay comes first in the
// configuration
TEST(left_out_scans, what_any_relay_leaves_out_is_asked_about) {
  const second_relay x;
  EXPECT_TRUE(x.leaves_out(2));
  EXPECT_FALSE(x.leaves_out(1)) << "it is named";
  EXPECT_FALSE(x.leaves_out(2, "")) << "there is nobody to be asked";
}

// protocol-coverage.md 4.5: its own host knows better, if it has listings and
// is connected
TEST(left_out_scans, a_relay_counts_while_the_own_host_does_not_list) {
  second_relay x;
  x.follow(3, "https://pds.test", false, true);
  EXPECT_TRUE(x.leaves_out(2)) << "a host without a listing";
  x.scan.listing = {2, 3};
  EXPECT_FALSE(x.leaves_out(2));
  EXPECT_TRUE(x.leaves_out(2, "https://elsewhere.test"));
  x.follow(3, "https://pds.test", false, false);
  EXPECT_TRUE(x.leaves_out(2)) << "its stream is refused";
}

TEST(left_out_scans, a_host_is_believed_of_its_own_repos_only) {
  second_relay x;
  x.follow(3, "https://pds.test", false, true);
  x.scan.upstream = 3;
  EXPECT_TRUE(x.leaves_out(2));
  EXPECT_FALSE(x.leaves_out(2, "https://elsewhere.test"));
}

// CONS-29: a copy that the listing would have proved
TEST(left_out_scans, a_copy_of_before_the_loss_is_to_be_proved) {
  upstream_board board;
  board.put(quiet_upstream(pds_id, "https://pds.test", 3, 7));
  auto row = row_at("https://pds.test");
  row.status = storage::repo_status::synced;
  row.fcsr = {pds_id, 2, 90};
  EXPECT_EQ(left_out_scans::to_prove(row, board), (position{pds_id, 3, 7}));
  row.status = storage::repo_status::desync;
  EXPECT_FALSE(left_out_scans::to_prove(row, board).defined())
    << "a fetch proves it";
  row.status = storage::repo_status::synced;
  row.account = storage::account_status::deactivated;
  EXPECT_FALSE(left_out_scans::to_prove(row, board).defined());
  row.account = storage::account_status::active;
  row.fcsr = {pds_id, 3, 7};
  EXPECT_FALSE(left_out_scans::to_prove(row, board).defined())
    << "it was proved since";
  EXPECT_FALSE(left_out_scans::to_prove(row_at("https://elsewhere.test"), board)
                 .defined());
}

} // namespace
} // namespace weir::tests

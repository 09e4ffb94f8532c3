#include "actors/node/limits.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/waiting_room.hpp"

#include <gtest/gtest.h>

/// How much memory and disk a node uses for frames that wait for a document
/// (protocol-coverage.md 2.5.6), and how much of it one source may use.
namespace weir::actors {
namespace {

constexpr auto part = limits::document_wait_source_part;

// limits::document_wait_source_part, and one byte more
TEST(waiting_room, a_source_has_its_part_in_memory_and_on_disk) {
  waiting_room x;
  x.set_most({100 * part, 1'000 * part});
  EXPECT_TRUE(x.change("a", {}, {100, 1'000}));
  EXPECT_FALSE(x.change("a", {}, {1, 0}));
  EXPECT_FALSE(x.change("a", {}, {0, 1}));
  EXPECT_TRUE(x.change("b", {}, {100, 1'000})) << "others have theirs";
  EXPECT_TRUE(x.change("a", {100, 1'000}, {99, 999}));
  EXPECT_TRUE(x.change("a", {}, {1, 1}));
  EXPECT_EQ(x.held(), (waiting_bytes{200, 2'000}));
}

// limits::document_wait_disk_bytes_max: one full buffer fills a source's share
TEST(waiting_room, one_source_cannot_fill_a_disk) {
  waiting_room x;
  x.set_most({1'048'576, limits::document_wait_disk_bytes_max});
  constexpr auto most = limits::document_wait_disk_bytes_max / part;
  EXPECT_TRUE(x.change("a", {}, {0, most}));
  EXPECT_FALSE(x.change("a", {}, {0, 1}));
  EXPECT_LE(limits::document_wait_disk_bytes_max,
            limits::disk_reserve_bytes / 4);
}

TEST(waiting_room, all_sources_together_have_so_much_and_no_byte_more) {
  waiting_room x;
  x.set_most({100 * part, 1'000 * part});
  for (uint64_t i = 0; i < part; ++i)
    EXPECT_TRUE(x.change("source " + std::to_string(i), {}, {100, 1'000}));
  EXPECT_FALSE(x.change("one more", {}, {1, 0}));
  EXPECT_FALSE(x.change("one more", {}, {0, 1}));
  EXPECT_TRUE(x.change("source 0", {100, 1'000}, {}));
  EXPECT_TRUE(x.change("one more", {}, {100, 1'000}));
}

TEST(waiting_room, less_is_always_taken) {
  waiting_room x;
  EXPECT_TRUE(x.change("a", {}, {1'000, 1'000})) << "no bound yet";
  x.set_most({4, 4});
  EXPECT_TRUE(x.change("a", {1'000, 1'000}, {900, 1'000}));
  EXPECT_FALSE(x.change("a", {900, 1'000}, {901, 0}));
}

TEST(waiting_room, a_node_that_runs_short_keeps_no_frames) {
  const auto room = std::make_shared<waiting_room>();
  const auto did = atproto::did::trusted("did:plc:a");
  for (const auto what : {shortage::memory, shortage::disk}) {
    intake_board intake;
    room_claim x{room};
    EXPECT_TRUE(x.keep({5, 5}, did, 1, intake));
    EXPECT_EQ(room->held(), (waiting_bytes{5, 5}));
    intake.set(what, intake_level::no_backfill, "short");
    EXPECT_FALSE(x.keep({5, 5}, did, 1, intake));
    EXPECT_TRUE(x.keep({}, did, 1, intake));
    EXPECT_EQ(room->held(), waiting_bytes{});
  }
}

TEST(waiting_room, a_claim_that_ends_holds_nothing) {
  const auto room = std::make_shared<waiting_room>();
  room->set_most({10 * part, 10 * part});
  {
    room_claim x{room};
    EXPECT_TRUE(x.set("a", {7, 0}));
    EXPECT_FALSE(x.set("a", {11, 0}));
    EXPECT_EQ(room->held(), (waiting_bytes{7, 0})) << "as it was";
    EXPECT_TRUE(x.set("another now", {8, 3}));
    room_claim y{room};
    EXPECT_FALSE(y.set("a", {3, 0})) << "they are still of the first source";
    EXPECT_TRUE(y.set("another now", {3, 0}));
  }
  EXPECT_EQ(room->held(), waiting_bytes{});
}

// The one that can delay the document: the domain of a did:web; otherwise only
// the streams can be distinguished.
TEST(waiting_room, a_source_is_a_domain_or_a_stream) {
  const auto of = [](const char* did, uint32_t upstream) {
    return waiting_source(atproto::did::parse(did).value(), upstream);
  };
  EXPECT_EQ(of("did:web:a.crowd.test", 1), of("did:web:b.crowd.test", 2));
  EXPECT_NE(of("did:web:a.crowd.test", 1), of("did:web:a.other.test", 1));
  constexpr auto plc = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
  EXPECT_EQ(of(plc, 1), of("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", 1));
  EXPECT_NE(of(plc, 1), of(plc, 2));
}

} // namespace
} // namespace weir::actors

#include "actors/node/limits.hpp"
#include "actors/support/doubt_room.hpp"
#include "actors/support/limits.hpp"

#include <gtest/gtest.h>

/// How much memory and disk a node uses for frames that wait for a document
/// (protocol-coverage.md 2.5.6), and how much of it one source may use.
namespace weir::actors {
namespace {

constexpr auto part = limits::doubt_source_part;

// limits::doubt_source_part, and one byte more
TEST(doubt_room, a_source_has_its_part_in_memory_and_on_disk) {
  doubt_room x;
  x.set_most({100 * part, 1'000 * part});
  EXPECT_TRUE(x.change("a", {}, {100, 1'000}));
  EXPECT_FALSE(x.change("a", {}, {1, 0}));
  EXPECT_FALSE(x.change("a", {}, {0, 1}));
  EXPECT_TRUE(x.change("b", {}, {100, 1'000})) << "others have theirs";
  EXPECT_TRUE(x.change("a", {100, 1'000}, {99, 999}));
  EXPECT_TRUE(x.change("a", {}, {1, 1}));
  EXPECT_EQ(x.held(), (doubt_bytes{200, 2'000}));
}

// limits::doubt_disk_bytes_max: one repo's full buffer fills a source's share
TEST(doubt_room, one_source_cannot_fill_a_disk) {
  doubt_room x;
  x.set_most({1'048'576, limits::doubt_disk_bytes_max});
  constexpr auto most = limits::doubt_disk_bytes_max / part;
  EXPECT_TRUE(x.change("a", {}, {0, most}));
  EXPECT_FALSE(x.change("a", {}, {0, 1}));
  EXPECT_LE(limits::doubt_disk_bytes_max, limits::disk_reserve_bytes / 4);
}

TEST(doubt_room, all_sources_together_have_so_much_and_no_byte_more) {
  doubt_room x;
  x.set_most({100 * part, 1'000 * part});
  for (uint64_t i = 0; i < part; ++i)
    EXPECT_TRUE(x.change("source " + std::to_string(i), {}, {100, 1'000}));
  EXPECT_FALSE(x.change("one more", {}, {1, 0}));
  EXPECT_FALSE(x.change("one more", {}, {0, 1}));
  EXPECT_TRUE(x.change("source 0", {100, 1'000}, {}));
  EXPECT_TRUE(x.change("one more", {}, {100, 1'000}));
}

TEST(doubt_room, less_is_always_taken) {
  doubt_room x;
  EXPECT_TRUE(x.change("a", {}, {1'000, 1'000})) << "no bound yet";
  x.set_most({4, 4});
  EXPECT_TRUE(x.change("a", {1'000, 1'000}, {900, 1'000}));
  EXPECT_FALSE(x.change("a", {900, 1'000}, {901, 0}));
}

TEST(doubt_room, a_node_that_runs_short_keeps_no_frames) {
  const auto room = std::make_shared<doubt_room>();
  const auto did = atproto::did::trusted("did:plc:a");
  for (const auto what : {shortage::memory, shortage::disk}) {
    intake_board intake;
    doubt_claim x{room};
    EXPECT_TRUE(x.keep({5, 5}, did, 1, intake));
    EXPECT_EQ(room->held(), (doubt_bytes{5, 5}));
    intake.set(what, intake_level::no_backfill, "short");
    EXPECT_FALSE(x.keep({5, 5}, did, 1, intake));
    EXPECT_TRUE(x.keep({}, did, 1, intake));
    EXPECT_EQ(room->held(), doubt_bytes{});
  }
}

TEST(doubt_room, a_claim_that_ends_holds_nothing) {
  const auto room = std::make_shared<doubt_room>();
  room->set_most({10 * part, 10 * part});
  {
    doubt_claim x{room};
    EXPECT_TRUE(x.set("a", {7, 0}));
    EXPECT_FALSE(x.set("a", {11, 0}));
    EXPECT_EQ(room->held(), (doubt_bytes{7, 0})) << "as it was";
    EXPECT_TRUE(x.set("another now", {8, 3}));
    doubt_claim y{room};
    EXPECT_FALSE(y.set("a", {3, 0})) << "they are still of the first source";
    EXPECT_TRUE(y.set("another now", {3, 0}));
  }
  EXPECT_EQ(room->held(), doubt_bytes{});
}

// The one that can delay the document: the domain of a did:web; otherwise only
// the streams can be distinguished.
TEST(doubt_room, a_source_is_a_domain_or_a_stream) {
  const auto of = [](const char* did, uint32_t upstream) {
    return doubt_source(atproto::did::parse(did).value(), upstream);
  };
  EXPECT_EQ(of("did:web:a.crowd.test", 1), of("did:web:b.crowd.test", 2));
  EXPECT_NE(of("did:web:a.crowd.test", 1), of("did:web:a.other.test", 1));
  constexpr auto plc = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
  EXPECT_EQ(of(plc, 1), of("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", 1));
  EXPECT_NE(of(plc, 1), of(plc, 2));
}

} // namespace
} // namespace weir::actors

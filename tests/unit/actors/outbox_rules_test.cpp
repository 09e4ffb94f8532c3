#include "actors/repo/outbox_rules.hpp"

#include <gtest/gtest.h>

#include <set>

// What a repo tells the parts of its node that all repos share.
namespace weir::tests {
namespace {

using namespace weir::actors;

constexpr auto the_pds = "https://a.crowd.test";

void follow(upstream_board& board, uint32_t id, const std::string& origin,
            bool relay) {
  upstream_view x;
  x.id = id;
  x.origin = origin;
  x.relay = relay;
  board.put(x);
}

} // namespace

// actors.md, Who is looked up next
TEST(outbox_rules, a_look_up_takes_the_turn_of_the_pds_that_causes_it) {
  upstream_board board;
  follow(board, 1, "https://relay.test", true);
  follow(board, 2, the_pds, false);
  EXPECT_EQ(turn_of(2, board), "crowd.test");
  EXPECT_EQ(turn_of(1, board), "") << "a relay";
  EXPECT_EQ(turn_of(0, board), "") << "nobody";
  EXPECT_EQ(turn_of(9, board), "") << "an upstream that is gone";
}

// architecture.md, A wrong clock
TEST(outbox_rules, a_signer_counts_for_its_stream) {
  upstream_board board;
  follow(board, 1, "https://relay.test", true);
  heard_rev heard;
  heard.rev = atproto::tid{1 << 20};
  heard.upstream = 7;
  const auto of_stream = signed_by(5, heard, the_pds, board);
  EXPECT_EQ(of_stream.upstream, 7u);
  EXPECT_FALSE(of_stream.relay);
  EXPECT_EQ(of_stream.signer, 5u);
  EXPECT_EQ(of_stream.host, atproto::stable_hash(the_pds));
  EXPECT_EQ(of_stream.rev, heard.rev.time());
  heard.upstream = 0;
  const auto of_fetch = signed_by(5, heard, the_pds, board);
  EXPECT_EQ(of_fetch.upstream, 1u) << "it accounts for all hosts";
  EXPECT_TRUE(of_fetch.relay);
  follow(board, 2, the_pds, false);
  EXPECT_EQ(signed_by(5, heard, the_pds, board).upstream, 2u);
  EXPECT_FALSE(signed_by(5, heard, the_pds, board).relay);
}

TEST(outbox_rules, each_reason_has_a_number_and_words) {
  refused_commit x;
  std::set<uint8_t> numbers{0}; // No reason.
  using atproto::verdict;
  for (const auto why :
       {verdict::bad_shape, verdict::future_rev, verdict::bad_signature,
        verdict::bad_proof, verdict::unverifiable}) {
    x.why.why = why;
    EXPECT_TRUE(numbers.insert(x.reason()).second);
    EXPECT_EQ(x.text(), to_string(why));
  }
  x.why.reason = "cut off";
  EXPECT_EQ(x.text(), "unverifiable: cut off");
  x.wrong_host = true;
  EXPECT_TRUE(numbers.insert(x.reason()).second);
  EXPECT_EQ(x.text(), "wrong_host: the account's document names no host");
  x.other_host = the_pds;
  EXPECT_EQ(x.text(),
            std::string{"wrong_host: the account's document names "} + the_pds);
}

} // namespace weir::tests

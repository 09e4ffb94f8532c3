#include "actors/router/limits.hpp"
#include "actors/router/stream_claims.hpp"
#include "tests/unit/actors/machine_frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// DIDs that streams of PDSs name, while they are looked up.
namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using namespace weir::actors;
using atproto::frame_kind;
using step = stream_claims::step;

constexpr steady_time noon{1'000'000'000};
constexpr uint32_t claiming_stream = 7;

atproto::did named_did(size_t i) {
  return atproto::did::trusted("did:plc:named" + std::to_string(i));
}

atproto::stamped_frame frame_of(frame_kind kind, shared_bytes x,
                                const atproto::did& repo, uint64_t seq = 1,
                                uint32_t from = claiming_stream) {
  atproto::stamped_frame out;
  out.at = {from, 1, seq};
  out.kind = kind;
  out.repo = repo;
  out.bytes = std::move(x);
  return out;
}

atproto::stamped_frame identity_of(const atproto::did& repo,
                                   uint32_t from = claiming_stream) {
  return frame_of(frame_kind::identity, identity_frame(1, repo), repo, 1, from);
}

atproto::stamped_frame account_of(const atproto::did& repo, bool active) {
  return frame_of(frame_kind::account,
                  account_frame(1, active, active ? "" : "deactivated", repo),
                  repo);
}

atproto::stamped_frame sync_of(const atproto::did& repo, atproto::tid rev) {
  return frame_of(frame_kind::sync, sync_frame(1, rev, repo), repo);
}

} // namespace

TEST(stream_claims, one_did_is_asked_about_once_by_each_stream) {
  stream_claims x;
  const auto did = named_did(1);
  EXPECT_FALSE(x.hear(identity_of(did)));
  EXPECT_EQ(x.claim(identity_of(did), noon), step::ask_anew);
  EXPECT_TRUE(x.hear(identity_of(did)));
  EXPECT_FALSE(x.hear(identity_of(did, 8)));
  EXPECT_EQ(x.claim(identity_of(did, 8), noon), step::ask_anew);
  x.drop(claiming_stream, did, true);
  EXPECT_FALSE(x.hear(identity_of(did)));
  EXPECT_TRUE(x.hear(identity_of(did, 8)));
}

// protocol-coverage.md 4; its frames are finished, so only the claim remembers
// them
TEST(stream_claims, what_frames_say_meanwhile_goes_with_the_addition) {
  stream_claims x;
  const auto rev = atproto::tid::from_time(wall_time{1'000'000}, 1);
  const auto later = atproto::tid::from_time(wall_time{2'000'000}, 1);
  x.claim(sync_of(named_did(1), rev), noon);
  x.claim(account_of(named_did(2), true), noon);
  EXPECT_TRUE(x.hear(sync_of(named_did(1), later)));
  EXPECT_TRUE(x.hear(sync_of(named_did(1), rev)));
  EXPECT_TRUE(x.hear(account_of(named_did(1), true)));
  ASSERT_TRUE(x.confirm(claiming_stream, named_did(1), false));
  auto heard = x.begin(claiming_stream, named_did(1));
  ASSERT_TRUE(heard);
  EXPECT_FALSE(heard->look_up);
  EXPECT_EQ(heard->least, later);
  ASSERT_TRUE(x.confirm(claiming_stream, named_did(2), false));
  EXPECT_TRUE(x.hear(identity_of(named_did(2)))) << "it is not tracked yet";
  heard = x.begin(claiming_stream, named_did(2));
  ASSERT_TRUE(heard);
  EXPECT_TRUE(heard->look_up);
  EXPECT_FALSE(heard->least.defined());
  EXPECT_EQ(x.size(), 0u);
}

// A new account of a PDS begins with an #identity: one look-up suffices for it.
TEST(stream_claims, what_claims_is_answered_by_a_document_that_came_later) {
  for (const bool anew : {true, false})
    for (const bool again : {true, false}) {
      stream_claims x;
      EXPECT_EQ(x.claim(identity_of(named_did(1)), noon), step::ask_anew);
      if (again)
        x.hear(identity_of(named_did(1)));
      ASSERT_TRUE(x.confirm(claiming_stream, named_did(1), anew));
      const auto heard = x.begin(claiming_stream, named_did(1));
      ASSERT_TRUE(heard);
      EXPECT_EQ(heard->look_up, again || !anew);
    }
}

TEST(stream_claims, who_is_away_is_no_newcomer) {
  stream_claims x;
  EXPECT_EQ(x.claim(account_of(named_did(1), false), noon), step::wait);
  EXPECT_EQ(x.size(), 0u);
  for (const bool back : {true, false}) {
    EXPECT_EQ(x.claim(account_of(named_did(2), true), noon), step::ask);
    x.hear(account_of(named_did(2), false));
    if (back)
      x.hear(account_of(named_did(2), true));
    x.confirm(claiming_stream, named_did(2), false);
    const auto heard = x.begin(claiming_stream, named_did(2));
    ASSERT_EQ(heard.has_value(), back);
    if (back) {
      EXPECT_TRUE(heard->look_up) << "it may have moved";
    }
    EXPECT_EQ(x.size(), 0u);
  }
}

// limits::shard_claims_max
TEST(stream_claims, a_stream_has_so_many_and_not_one_more) {
  constexpr auto most = limits::shard_claims_max;
  stream_claims x;
  for (size_t i = 0; i < most; ++i)
    EXPECT_EQ(x.claim(identity_of(named_did(i)), noon), step::ask_anew);
  EXPECT_EQ(x.claim(identity_of(named_did(most)), noon), step::drop);
  EXPECT_EQ(x.claim(identity_of(named_did(most), 8), noon), step::ask_anew);
  x.drop(claiming_stream, named_did(0), true);
  EXPECT_EQ(x.claim(identity_of(named_did(most)), noon), step::ask_anew);
  EXPECT_EQ(x.size(), most + 1);
}

TEST(stream_claims, a_stream_that_rests_claims_nothing_until_then) {
  stream_claims x;
  x.claim(identity_of(named_did(1)), noon);
  x.claim(identity_of(named_did(2)), noon);
  x.claim(identity_of(named_did(3), 8), noon);
  x.confirm(claiming_stream, named_did(2), false);
  EXPECT_EQ(x.rest(claiming_stream, noon + 60s), 1u);
  EXPECT_EQ(x.size(), 2u) << "the confirmed one, and that of another stream";
  EXPECT_EQ(x.claim(identity_of(named_did(1)), noon + 60s + -1us), step::drop);
  EXPECT_EQ(x.claim(identity_of(named_did(4), 8), noon), step::ask_anew);
  EXPECT_EQ(x.claim(identity_of(named_did(1)), noon + 60s), step::ask_anew);
}

TEST(stream_claims, one_that_fails_says_which_frame_it_was) {
  stream_claims x;
  auto frame = identity_of(named_did(1));
  frame.at.seq = 42;
  x.claim(frame, noon);
  const auto at = x.drop(claiming_stream, named_did(1), true);
  ASSERT_TRUE(at);
  EXPECT_EQ(at->seq, 42u);
  EXPECT_FALSE(x.drop(claiming_stream, named_did(1), true));
  x.claim(frame, noon);
  EXPECT_FALSE(x.drop(claiming_stream, named_did(1), false))
    << "nobody is charged for what was not decided";
  EXPECT_EQ(x.size(), 0u);
}

TEST(stream_claims, an_addition_for_another_reason_ends_all_claims_of_it) {
  stream_claims x;
  x.claim(account_of(named_did(1), true), noon);
  x.claim(identity_of(named_did(1), 8), noon);
  x.claim(identity_of(named_did(2)), noon);
  EXPECT_TRUE(x.forget(named_did(1)));
  EXPECT_FALSE(x.forget(named_did(1)));
  EXPECT_FALSE(x.confirm(claiming_stream, named_did(1), false));
  EXPECT_FALSE(x.begin(claiming_stream, named_did(1)));
  EXPECT_EQ(x.size(), 1u);
}

// Each stage has a test that gives it malformed input.
TEST(stream_claims, frames_that_are_none_say_nothing) {
  stream_claims x;
  const shared_bytes garbage{bytes{0xff}};
  for (const auto kind : {frame_kind::commit, frame_kind::sync,
                          frame_kind::account, frame_kind::unknown})
    for (const auto& what : {garbage, shared_bytes{}}) {
      EXPECT_EQ(x.claim(frame_of(kind, what, named_did(1)), noon), step::ask);
      EXPECT_TRUE(x.hear(frame_of(kind, what, named_did(1))));
      const auto heard = x.begin(claiming_stream, named_did(1));
      ASSERT_TRUE(heard);
      EXPECT_FALSE(heard->look_up);
      EXPECT_FALSE(heard->least.defined());
    }
}

} // namespace weir::tests

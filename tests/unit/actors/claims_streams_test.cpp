#include "actors/supervisor/claims_machine.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

// An account that the stream of a PDS names is a claim until a DID document
// agrees.
namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using namespace weir::actors;
using kind = claims_machine::word::kind;
using outcome = claims_machine::outcome;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto its_pds = "https://pds.test";
constexpr auto other_pds = "https://other.test";
constexpr uint32_t first_stream = 1;
constexpr uint32_t next_stream = 2;

atproto::did streamed_did(size_t i) {
  return atproto::did::trusted("did:plc:stream" + std::to_string(i));
}

/// One `claims_machine` and its effects.
class stream_world {
public:
  void name(size_t i, uint32_t stream = first_stream,
            const std::string& host = its_pds) {
    take(machine.on_named(stream, host, streamed_did(i), now, wall));
  }

  void name_many(size_t first, size_t count, uint32_t stream = first_stream) {
    for (size_t i = first; i < first + count; ++i)
      name(i, stream);
  }

  /// @param age Age of the document; by default it is newer than the claim.
  void say(const atproto::did& repo, kind what, const std::string& pds = {},
           int64_t age = -1) {
    take(machine.on_word(repo, {what, pds, wall.seconds() - age}, now));
  }

  /// Answers all questions. @returns the number of questions
  size_t say_all(kind what, const std::string& pds = {}) {
    size_t out = 0;
    for (; !asked.empty(); ++out) {
      const auto repo = asked.front();
      asked.pop_front();
      say(repo, what, pds);
    }
    return out;
  }

  /// Lets the retry interval pass, so that due questions are asked again.
  void pass_retry() {
    now = now + limits::claim_retry;
    take(machine.on_timer(now));
  }

  size_t count_of(outcome x) const {
    return static_cast<size_t>(
      std::count_if(answers.begin(), answers.end(), [x](const auto& y) {
        return y.what == x;
      }));
  }

  void take(const claims_machine::effects& x) {
    asked.insert(asked.end(), x.ask.begin(), x.ask.end());
    anew.insert(anew.end(), x.ask_anew.begin(), x.ask_anew.end());
    answers.insert(answers.end(), x.answers.begin(), x.answers.end());
    rests.insert(rests.end(), x.rests.begin(), x.rests.end());
    pages += x.pages.size();
    if (x.prove)
      take(machine.on_proof(is_right, now));
    if (x.timer)
      timer = x.timer;
  }

  claims_machine machine{8 * limits::claims_bytes_max};
  steady_time now{1'000'000'000};
  wall_time wall{1'800'000'000'000'000};
  std::deque<atproto::did> asked;
  std::vector<atproto::did> anew;
  std::vector<stream_claim_decided> answers;
  std::vector<claims_machine::stream_rest> rests;
  std::optional<steady_time> timer;
  size_t pages = 0;
  bool is_right = true; ///< The directory has the document that it had before.
};

} // namespace

TEST(claims_streams, the_document_has_to_name_the_host_of_the_stream) {
  stream_world x;
  x.name_many(1, 3);
  x.say(streamed_did(1), kind::names_host, its_pds);
  x.say(streamed_did(2), kind::names_host, other_pds);
  x.say(streamed_did(3), kind::missing);
  EXPECT_EQ(x.answers.size(), 2u) << "it is asked for a second time";
  x.pass_retry();
  x.say(streamed_did(3), kind::missing);
  ASSERT_EQ(x.answers.size(), 3u);
  EXPECT_EQ(x.answers[0].what, outcome::confirmed);
  EXPECT_EQ(x.answers[0].upstream, first_stream);
  EXPECT_EQ(x.answers[0].repo, streamed_did(1));
  EXPECT_EQ(x.answers[1].what, outcome::failed);
  EXPECT_EQ(x.answers[2].what, outcome::failed);
  EXPECT_EQ(x.machine.bytes(), 0u);
}

TEST(claims_streams, an_identity_that_is_gone_has_no_host) {
  stream_world x;
  x.name(1);
  x.say(streamed_did(1), kind::names_host, {});
  EXPECT_EQ(x.count_of(outcome::failed), 0u) << "a directory may be wrong";
  x.pass_retry();
  ASSERT_THAT(x.anew, ElementsAre(streamed_did(1)));
  x.say(streamed_did(1), kind::names_host, {});
  EXPECT_EQ(x.count_of(outcome::failed), 1u);
}

// protocol-coverage.md 2.5.6: the known document names the former host
TEST(claims_streams, a_document_from_before_the_claim_is_looked_up_anew) {
  stream_world x;
  x.name(1);
  x.say(streamed_did(1), kind::names_host, other_pds, 0);
  EXPECT_THAT(x.answers, IsEmpty()) << "which of them was first?";
  EXPECT_THAT(x.anew, ElementsAre(streamed_did(1)));
  x.say(streamed_did(1), kind::names_host, its_pds);
  EXPECT_EQ(x.count_of(outcome::confirmed), 1u);
  x.name(2);
  x.say(streamed_did(2), kind::names_host, other_pds, 60);
  ASSERT_EQ(x.anew.size(), 2u);
  x.say(streamed_did(2), kind::names_host, other_pds, 60);
  EXPECT_EQ(x.count_of(outcome::failed), 1u) << "once";
  EXPECT_EQ(x.anew.size(), 2u);
}

TEST(claims_streams, one_that_two_name_is_asked_about_once) {
  stream_world x;
  x.name(1);
  x.name(1, next_stream, other_pds);
  EXPECT_EQ(x.asked.size(), 1u);
  x.say(streamed_did(1), kind::names_host, other_pds);
  EXPECT_EQ(x.count_of(outcome::failed), 1u);
  EXPECT_EQ(x.count_of(outcome::confirmed), 1u);
}

// limits::stream_claims_max
TEST(claims_streams, a_stream_has_so_many_and_not_one_more) {
  constexpr auto most = limits::stream_claims_max;
  stream_world x;
  x.name_many(0, most);
  EXPECT_THAT(x.answers, IsEmpty());
  x.name(most);
  ASSERT_EQ(x.count_of(outcome::dropped), 1u);
  EXPECT_EQ(x.answers[0].repo, streamed_did(most));
  x.name(most, next_stream);
  EXPECT_EQ(x.answers.size(), 1u) << "another one has its own";
  x.say(streamed_did(0), kind::names_host, its_pds);
  x.name(most);
  EXPECT_EQ(x.count_of(outcome::dropped), 1u);
  auto bytes = claims_machine::stream_cost_of(streamed_did(most));
  for (size_t i = 1; i <= most; ++i)
    bytes += claims_machine::stream_cost_of(streamed_did(i));
  EXPECT_EQ(x.machine.bytes(), bytes);
}

// limits::stream_claims_part, limits::stream_claim_bytes
TEST(claims_streams, a_stream_fills_half_of_the_room_that_others_leave) {
  const auto cost = claims_machine::stream_cost_of(streamed_did(1));
  EXPECT_EQ(cost,
            limits::stream_claim_bytes + 4 * streamed_did(1).str().size());
  for (const size_t less : {0, 1}) {
    stream_world x;
    x.machine = claims_machine{limits::stream_claims_part * (8 * cost - less)};
    x.name_many(1, 4);
    EXPECT_EQ(x.machine.bytes(), (4 - less) * cost);
    x.name(5);
    EXPECT_EQ(x.machine.bytes(), (4 - less) * cost);
    x.name_many(6, 3, next_stream);
    EXPECT_EQ(x.machine.bytes(), (4 - less + 2) * cost);
    // A listing has room of its own.
    const claims_machine::claim listed{streamed_did(9)};
    x.take(x.machine.on_page({first_stream, {}}, its_pds, {listed}, x.now,
                             x.wall));
    EXPECT_EQ(x.machine.bytes(),
              (4 - less + 2) * cost + claims_machine::cost_of(listed));
  }
}

// limits::claims_asked_share, limits::claims_asked_max: a host with many
// accounts does not delay those of others
TEST(claims_streams, so_many_are_asked_about_beside_those_of_listings) {
  stream_world x;
  std::vector<claims_machine::claim> page;
  for (size_t i = 0; i < 2 * limits::claims_asked_max; ++i)
    page.push_back({streamed_did(10'000 + i)});
  for (const uint32_t listing : {1u, 2u})
    x.take(x.machine.on_page({listing, {}}, its_pds, page, x.now,
                             x.wall));
  const auto listed = x.asked.size();
  x.name_many(0, limits::claims_asked_share + 1);
  EXPECT_EQ(x.asked.size(), listed + limits::claims_asked_share);
  x.name_many(100, limits::claims_asked_max, next_stream);
  EXPECT_EQ(x.asked.size(), listed + limits::claims_asked_max);
  x.name(200, 3);
  EXPECT_EQ(x.asked.size(), listed + limits::claims_asked_max);
  x.say(streamed_did(0), kind::missing);
  EXPECT_EQ(x.asked.back(), streamed_did(limits::claims_asked_share));
  x.say(streamed_did(1), kind::missing);
  x.say(streamed_did(2), kind::missing);
  EXPECT_EQ(x.asked.back(), streamed_did(200)) << "its turn";
}

// limits::claims_judged_min, limits::listing_mistrust_min
TEST(claims_streams, one_that_mostly_names_what_is_not_so_rests) {
  constexpr auto judged = limits::claims_judged_min;
  stream_world x;
  x.name_many(0, limits::claims_asked_max + 50);
  for (size_t i = 0; i + 1 < judged; ++i)
    x.say(streamed_did(i), kind::missing);
  EXPECT_THAT(x.rests, IsEmpty());
  x.say(streamed_did(judged - 1), kind::missing);
  ASSERT_EQ(x.rests.size(), 1u);
  EXPECT_EQ(x.rests[0].stream, first_stream);
  EXPECT_EQ(x.rests[0].until, x.now + limits::listing_mistrust_min);
  EXPECT_EQ(x.machine.bytes(), 0u) << "the others are dropped";
  EXPECT_THAT(x.answers, IsEmpty()) << "of them its rest tells";
  // This question was already asked.
  x.say(streamed_did(judged), kind::names_host, its_pds);
  EXPECT_THAT(x.answers, IsEmpty());
  x.name(1'000);
  EXPECT_EQ(x.count_of(outcome::dropped), 1u);
  x.now = x.rests[0].until;
  x.asked.clear();
  x.name(1'001);
  EXPECT_THAT(x.asked, ElementsAre(streamed_did(1'001)));
}

// limits::stream_mistrust_max
TEST(claims_streams, each_rest_is_longer_up_to_the_longest) {
  constexpr auto judged = limits::claims_judged_min;
  stream_world x;
  std::chrono::seconds rest = limits::listing_mistrust_min;
  for (size_t round = 0; round < 10; ++round) {
    x.name_many(round * judged, judged);
    x.say_all(kind::missing);
    ASSERT_EQ(x.rests.size(), round + 1);
    EXPECT_EQ(x.rests.back().until, x.now + rest);
    x.now = x.rests.back().until;
    rest = std::min<std::chrono::seconds>(2 * rest,
                                          limits::stream_mistrust_max);
  }
  EXPECT_EQ(rest, limits::stream_mistrust_max);
  x.name_many(5'000, judged);
  x.say_all(kind::names_host, its_pds);
  EXPECT_EQ(x.count_of(outcome::confirmed), judged);
  x.name_many(6'000, 2 * judged);
  x.say_all(kind::missing);
  EXPECT_EQ(x.rests.back().until, x.now + limits::listing_mistrust_min)
    << "it was good meanwhile";
}

TEST(claims_streams, half_of_them_may_fail) {
  constexpr auto count = 2 * limits::claims_judged_min;
  stream_world x;
  x.name_many(0, count);
  for (size_t i = 0; i < count; ++i)
    x.say(streamed_did(i), i % 2 == 0 ? kind::names_host : kind::missing,
          i % 2 == 0 ? its_pds : "");
  x.asked.clear();
  x.pass_retry();
  x.say_all(kind::missing);
  EXPECT_THAT(x.rests, IsEmpty());
  EXPECT_EQ(x.answers.size(), count);
}

// limits::claim_retry: a short rest, because the truth is not known
TEST(claims_streams, one_is_not_blamed_for_a_directory_that_has_lost_all) {
  stream_world x;
  x.is_right = false;
  for (size_t round = 0; round < 3; ++round) {
    x.name_many(100 * round, limits::claims_judged_min);
    x.say_all(kind::missing);
    ASSERT_EQ(x.rests.size(), round + 1);
    EXPECT_FALSE(x.rests.back().proved);
    EXPECT_EQ(x.rests.back().until, x.now + limits::claim_retry);
    x.now = x.rests.back().until;
  }
  EXPECT_EQ(x.machine.bytes(), 0u);
}

// limits::claim_retry, limits::claim_tries_max
TEST(claims_streams, a_directory_that_is_away_says_nothing) {
  stream_world x;
  x.name(1);
  for (size_t i = 1; i < limits::claim_tries_max; ++i) {
    EXPECT_EQ(x.say_all(kind::away), 1u);
    ASSERT_TRUE(x.timer);
    EXPECT_EQ(*x.timer, x.now + limits::claim_retry);
    EXPECT_THAT(x.answers, IsEmpty());
    x.now = *x.timer;
    x.take(x.machine.on_timer(x.now));
  }
  EXPECT_EQ(x.say_all(kind::away), 1u);
  EXPECT_EQ(x.count_of(outcome::dropped), 1u);
  EXPECT_EQ(x.machine.bytes(), 0u);
}

// Its look-ups failed before and pause: an earlier question would only fail.
TEST(claims_streams, who_is_looked_up_later_is_asked_about_then) {
  stream_world x;
  x.name_many(1, 2);
  const auto first = x.now + 6 * limits::claim_retry;
  const auto second = x.now + 3 * limits::claim_retry;
  for (const auto& [i, at] : {std::pair{1, first}, std::pair{2, second}})
    x.take(x.machine.on_word(streamed_did(static_cast<size_t>(i)),
                             {kind::away, {}, 0, at}, x.now));
  x.asked.clear();
  x.pass_retry();
  EXPECT_THAT(x.asked, IsEmpty());
  for (const auto& [i, at] : {std::pair{2, second}, std::pair{1, first}}) {
    ASSERT_EQ(x.timer, at);
    x.now = at + -1us;
    x.take(x.machine.on_timer(x.now));
    EXPECT_THAT(x.asked, IsEmpty());
    x.now = at;
    x.take(x.machine.on_timer(x.now));
    EXPECT_THAT(x.asked, ElementsAre(streamed_did(static_cast<size_t>(i))));
    EXPECT_EQ(x.say_all(kind::names_host, its_pds), 1u);
  }
  EXPECT_EQ(x.count_of(outcome::confirmed), 2u);
  EXPECT_EQ(x.machine.bytes(), 0u);
}

// A stream that is not followed any more, or whose host is not known.
TEST(claims_streams, without_a_host_nothing_can_agree) {
  stream_world x;
  x.name(1, first_stream, {});
  EXPECT_EQ(x.count_of(outcome::dropped), 1u);
  EXPECT_THAT(x.asked, IsEmpty());
}

// protocol-coverage.md 8.3: an #identity shows that the known document may be
// old
TEST(claims_streams, one_whose_document_may_have_changed_is_looked_up) {
  claims_machine x;
  constexpr steady_time now{1'000'000'000};
  const wall_time wall{1'700'000'000'000'000};
  const auto did = streamed_did(1);
  auto out = x.on_named(first_stream, its_pds, did, now, wall, true);
  EXPECT_THAT(out.ask, IsEmpty());
  EXPECT_THAT(out.ask_anew, ElementsAre(did));
  EXPECT_EQ(x.turn_of(did), its_pds);
  out = x.on_named(next_stream, its_pds, did, now, wall, true);
  EXPECT_THAT(out.ask_anew, IsEmpty()) << "it is being looked up";
  out = x.on_word(did, {kind::names_host, its_pds, wall.seconds()}, now);
  ASSERT_EQ(out.answers.size(), 2u);
  for (const auto& told : out.answers)
    EXPECT_EQ(told.anew, told.upstream == first_stream)
      << "the other claim may be younger than that look-up";
}

// A name that was not found waits before its next look-up, which says nothing
// about the directory.
TEST(claims_streams, one_that_cannot_be_looked_up_anew_stops_nobody) {
  claims_machine x;
  constexpr steady_time now{1'000'000};
  const wall_time wall{1'700'000'000'000'000};
  const auto did = streamed_did(1);
  x.on_named(first_stream, its_pds, did, now, wall, true);
  auto out = x.on_word(did, {kind::away, {}, 0}, now);
  EXPECT_THAT(out.ask_anew, IsEmpty());
  EXPECT_THAT(out.ask, ElementsAre(did)) << "what is known decides";
  out = x.on_named(next_stream, other_pds, streamed_did(2), now, wall);
  EXPECT_THAT(out.ask, ElementsAre(streamed_did(2)));
  x.on_word(did, {kind::away, {}, 0}, now);
  out = x.on_named(next_stream, other_pds, streamed_did(3), now, wall);
  EXPECT_THAT(out.ask, IsEmpty()) << "now it is the directory";
}

} // namespace weir::tests

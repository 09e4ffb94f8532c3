#include "actors/supervisor/question_machine.hpp"

#include <gtest/gtest.h>

/// A question about an account that has another host since the last one.
namespace weir::actors {
namespace {

using storage::account_status;
using kind = account_answer::kind;

const auto moved = atproto::did::trusted("did:web:moved.test");
const std::string former = "https://former.test";
const std::string present = "https://present.test";
constexpr steady_time now{1};

// protocol-coverage.md 4.6: the former host is just being asked; whether it
// answers or not, the present one is asked afterwards
TEST(question_machine, a_question_to_another_host_waits_for_the_first) {
  for (const auto answer : {kind::stated, kind::failed, kind::not_found}) {
    question_machine x{{}};
    ASSERT_EQ(x.on_question({{moved, former}}, now).ask.size(), 1u);
    EXPECT_TRUE(
      x.on_question({{moved, present, false, true}}, now).ask.empty());
    auto out
      = x.on_answer({moved, former, answer, account_status::deactivated}, now);
    EXPECT_EQ(out.answers.size(), answer == kind::failed ? 0u : 1u);
    ASSERT_EQ(out.ask.size(), 1u);
    EXPECT_EQ(out.ask[0].pds, present);
    out = x.on_answer({moved, present, kind::stated, account_status::active},
                      now);
    ASSERT_EQ(out.answers.size(), 1u);
    EXPECT_EQ(out.answers[0].account, account_status::active);
    EXPECT_EQ(x.open(), 0u);
  }
}

// The interval between two questions must not end a question that skips it
TEST(question_machine, a_proof_does_not_take_the_place_of_what_waits) {
  question_machine x{{}};
  question_machine::question proof{{moved, present}};
  proof.prove = true;
  ASSERT_EQ(x.on_question(proof, now).ask.size(), 1u);
  x.on_answer({moved, present, kind::stated, account_status::active}, now);
  ASSERT_EQ(x.on_question({{moved, former}}, now).ask.size(), 1u);
  x.on_question({{moved, present, false, true}}, now);
  x.on_question(proof, now);
  const auto out
    = x.on_answer({moved, former, kind::stated, account_status::active}, now);
  ASSERT_EQ(out.ask.size(), 1u);
  EXPECT_EQ(out.ask[0].pds, present);
}

TEST(question_machine, what_is_asked_again_anyway_does_not_wait) {
  question_machine x{{}};
  ASSERT_EQ(x.on_question({{moved, former}}, now).ask.size(), 1u);
  question_machine::question again{{moved, present}};
  again.left_out = true;
  EXPECT_TRUE(x.on_question(again, now).ask.empty());
  const auto out
    = x.on_answer({moved, former, kind::stated, account_status::active}, now);
  EXPECT_EQ(out.answers.size(), 1u);
  EXPECT_TRUE(out.ask.empty());
  EXPECT_EQ(x.open(), 0u);
}

} // namespace
} // namespace weir::actors

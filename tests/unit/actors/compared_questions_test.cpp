#include "actors/supervisor/question_machine.hpp"
#include "actors/supervisor/supervisor_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

/// Questions about repos that no upstream covers.
namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using actors::question_machine;
using actors::question_options;
using storage::account_status;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string their_pds = "https://pds.test";

atproto::did asked_repo(size_t n) {
  return atproto::did::trusted("did:web:a" + std::to_string(n) + ".test");
}

struct comparisons {
  explicit comparisons(question_options x = {}) : machine(x) {
    // nop
  }

  void ask(size_t n, bool compared = true) {
    question_machine::question x{asked_repo(n), their_pds};
    x.compared = compared;
    x.at_once = !compared;
    const auto out = machine.on_question(x, now);
    asked += out.ask.size();
    for (const auto& each : out.refused)
      refused.push_back(each.repo);
  }

  question_machine::effects tell(size_t n, atproto::tid rev) {
    return machine.on_answer({asked_repo(n), their_pds,
                              account_answer::kind::stated,
                              account_status::active, 0s, rev},
                             now);
  }

  question_machine machine;
  steady_time now{1'000'000'000};
  size_t asked = 0;
  std::vector<atproto::did> refused;
};

} // namespace

// The one that compares sets its interval, and the host's answer is reported as
// a comparison.
TEST(compared_questions, an_answer_says_that_it_was_a_comparison) {
  comparisons x;
  const atproto::tid rev{7};
  for (int i = 0; i < 2; ++i) {
    x.ask(1);
    const auto told = x.tell(1, rev).compared;
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].rev, rev);
  }
  x.ask(1);
  x.ask(1, false); // Now a REPO waits for it.
  EXPECT_EQ(x.tell(1, rev).answers.size(), 1u);
}

TEST(compared_questions, one_that_fails_is_left_to_the_next_lap) {
  comparisons x;
  x.ask(1);
  x.machine.on_answer({asked_repo(1), their_pds, account_answer::kind::failed},
                      x.now);
  EXPECT_EQ(x.machine.open(), 0u);
  x.ask(2);
  EXPECT_EQ(x.asked, 1u) << "its host rests";
}

// limits::account_questions_max: a site gets its share of all places and no
// more
TEST(compared_questions, they_fill_the_share_of_their_site) {
  question_options options;
  options.waiting_max = 80;
  comparisons x{options};
  const auto share = actors::fair_share(options.waiting_max);
  for (size_t i = 0; i < share; ++i)
    x.ask(i);
  EXPECT_THAT(x.refused, IsEmpty());
  x.ask(share);
  EXPECT_THAT(x.refused, ElementsAre(asked_repo(share)));
  x.ask(share + 1, false);
  EXPECT_EQ(x.refused.size(), 1u) << "for a REPO there is room";
}

} // namespace weir::tests

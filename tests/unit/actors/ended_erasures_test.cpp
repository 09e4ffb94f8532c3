#include "actors/journal/publication_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::tests {
namespace {

using actors::ended_erasures;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

atproto::did repo_of(char letter) {
  return *atproto::did::parse("did:plc:" + std::string(24, letter));
}

// Events that one of the consumers may still have are withheld.
TEST(EndedErasures, AreForgottenWhenAllConsumersHavePassedThem) {
  ended_erasures x;
  x.add(repo_of('a'), 10);
  x.add(repo_of('b'), 20);
  x.note("one", 30);
  EXPECT_THAT(x.take_passed(2), IsEmpty()) << "of the other nothing is known";
  x.note("two", 9);
  EXPECT_THAT(x.take_passed(2), IsEmpty());
  x.note("two", 19);
  EXPECT_THAT(x.take_passed(2), ElementsAre(Pair(10u, repo_of('a'))));
  EXPECT_THAT(x.take_passed(2), IsEmpty()) << "once";
  x.note("two", 20);
  EXPECT_THAT(x.take_passed(2), ElementsAre(Pair(20u, repo_of('b'))));
}

} // namespace
} // namespace weir::tests

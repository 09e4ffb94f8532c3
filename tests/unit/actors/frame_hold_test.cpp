#include "actors/router/frame_hold.hpp"

#include <gmock/gmock.h>

#include <utility>

namespace weir::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

atproto::did repo(size_t i) {
  return atproto::did::trusted("did:web:r" + std::to_string(i) + ".test");
}

/// Frames of these repos, with their numbers as seqs.
frame_hold::frames batch(uint32_t stream, const std::vector<size_t>& repos) {
  frame_hold::frames out;
  for (const auto i : repos) {
    atproto::stamped_frame x;
    x.at = {stream, 1, i};
    x.repo = repo(i);
    out.push_back(std::move(x));
  }
  return out;
}

std::vector<uint64_t> seqs_of(const frame_hold::frames& x) {
  std::vector<uint64_t> out;
  for (const auto& each : x)
    out.push_back(each.at.seq);
  return out;
}

/// 0: none.
uint64_t next(frame_hold& x) {
  const auto out = x.next();
  return out ? out->at.seq : 0;
}

constexpr auto wakes_nobody = [](const auto&) {
  return false;
};

/// All of them.
void hold(frame_hold& x, frame_hold::frames batch) {
  const auto rest = x.add(std::move(batch), [](const auto&) {
    return true;
  });
  EXPECT_THAT(seqs_of(rest), IsEmpty());
}

TEST(frame_hold, a_stream_keeps_its_order_and_each_has_its_turn) {
  frame_hold x;
  hold(x, batch(7, {1, 2}));
  hold(x, batch(7, {3}));
  hold(x, batch(8, {11, 12}));
  hold(x, batch(9, {21}));
  std::vector<uint64_t> all;
  while (!x.empty())
    all.push_back(next(x));
  EXPECT_THAT(all, ElementsAre(1, 11, 21, 2, 12, 3));
  EXPECT_EQ(next(x), 0u);
}

TEST(frame_hold, a_stream_that_comes_back_waits_for_its_turn) {
  frame_hold x;
  hold(x, batch(7, {1}));
  hold(x, batch(8, {11, 12}));
  EXPECT_EQ(next(x), 1u);
  hold(x, batch(7, {2}));
  EXPECT_EQ(next(x), 11u);
  EXPECT_EQ(next(x), 2u);
  EXPECT_EQ(next(x), 12u);
}

TEST(frame_hold, what_wakes_nobody_passes) {
  frame_hold x;
  const auto passing = x.add(batch(7, {1, 2, 3}), [](const auto& frame) {
    return frame.at.seq == 2;
  });
  EXPECT_THAT(seqs_of(passing), ElementsAre(1, 3));
  EXPECT_EQ(next(x), 2u);
}

TEST(frame_hold, no_frame_overtakes_another_of_its_repo_and_stream) {
  frame_hold x;
  auto first = true;
  const auto passing = x.add(batch(7, {1, 1, 2}), [&first](const auto&) {
    return std::exchange(first, false);
  });
  EXPECT_THAT(seqs_of(passing), ElementsAre(2)) << "of the same batch";
  EXPECT_THAT(seqs_of(x.add(batch(7, {1, 2}), wakes_nobody)), ElementsAre(2))
    << "of any later one";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(next(x), 1u);
  EXPECT_THAT(seqs_of(x.add(batch(7, {1}), wakes_nobody)), IsEmpty());
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(next(x), 1u);
  EXPECT_THAT(seqs_of(x.add(batch(7, {1}), wakes_nobody)), ElementsAre(1))
    << "none of it waits any more";
  EXPECT_TRUE(x.empty());
}

// Or a stranger who names a repo could hold up what comes from its own host.
TEST(frame_hold, a_frame_that_waits_holds_up_no_other_stream) {
  frame_hold x;
  hold(x, batch(7, {1}));
  EXPECT_THAT(seqs_of(x.add(batch(8, {1}), wakes_nobody)), ElementsAre(1));
}

TEST(frame_hold, nothing_has_no_turn) {
  frame_hold x;
  hold(x, {});
  EXPECT_TRUE(x.empty());
  hold(x, batch(7, {1}));
  x.clear();
  EXPECT_TRUE(x.empty());
  EXPECT_EQ(next(x), 0u);
  EXPECT_THAT(seqs_of(x.add(batch(7, {1}), wakes_nobody)), ElementsAre(1));
}

} // namespace
} // namespace weir::actors

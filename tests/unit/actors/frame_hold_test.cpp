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

std::vector<uint64_t> next(frame_hold& x) {
  return seqs_of(x.next().value_or(frame_hold::frames{}));
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
  for (const size_t i : {1, 2, 3})
    hold(x, batch(7, {i}));
  hold(x, batch(8, {11, 12}));
  hold(x, batch(8, {13}));
  hold(x, batch(9, {21}));
  std::vector<std::vector<uint64_t>> all;
  while (!x.empty())
    all.push_back(next(x));
  EXPECT_THAT(all,
              ElementsAre(ElementsAre(1), ElementsAre(11, 12), ElementsAre(21),
                          ElementsAre(2), ElementsAre(13), ElementsAre(3)));
  EXPECT_EQ(x.next(), std::nullopt);
}

TEST(frame_hold, a_stream_that_comes_back_waits_for_its_turn) {
  frame_hold x;
  hold(x, batch(7, {1}));
  hold(x, batch(8, {11}));
  hold(x, batch(8, {12}));
  EXPECT_THAT(next(x), ElementsAre(1));
  hold(x, batch(7, {2}));
  EXPECT_THAT(next(x), ElementsAre(11));
  EXPECT_THAT(next(x), ElementsAre(2));
  EXPECT_THAT(next(x), ElementsAre(12));
}

TEST(frame_hold, what_wakes_nobody_passes) {
  frame_hold x;
  const auto passing = x.add(batch(7, {1, 2, 3}), [](const auto& frame) {
    return frame.at.seq == 2;
  });
  EXPECT_THAT(seqs_of(passing), ElementsAre(1, 3));
  EXPECT_THAT(next(x), ElementsAre(2));
}

TEST(frame_hold, no_frame_overtakes_another_of_its_repo) {
  frame_hold x;
  auto first = true;
  const auto passing = x.add(batch(7, {1, 1, 2}), [&first](const auto&) {
    return std::exchange(first, false);
  });
  EXPECT_THAT(seqs_of(passing), ElementsAre(2)) << "of the same batch";
  EXPECT_THAT(seqs_of(x.add(batch(8, {1, 2}), wakes_nobody)), ElementsAre(2))
    << "of any later one";
  EXPECT_THAT(next(x), ElementsAre(1, 1));
  EXPECT_THAT(seqs_of(x.add(batch(9, {1}), wakes_nobody)), IsEmpty());
  EXPECT_THAT(next(x), ElementsAre(1));
  EXPECT_THAT(next(x), ElementsAre(1));
  EXPECT_THAT(seqs_of(x.add(batch(9, {1}), wakes_nobody)), ElementsAre(1))
    << "none of it waits any more";
  EXPECT_TRUE(x.empty());
}

TEST(frame_hold, nothing_has_no_turn) {
  frame_hold x;
  hold(x, {});
  EXPECT_TRUE(x.empty());
  EXPECT_EQ(x.next(), std::nullopt);
}

} // namespace
} // namespace weir::actors

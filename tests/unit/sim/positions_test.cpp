#include "tests/sim/positions.hpp"

#include "atproto/frame.hpp"

#include <gtest/gtest.h>

namespace weir::tests {

namespace {

using atproto::tid;
using sim::stream_commits;
using simnet::event_log;

constexpr auto alice = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
constexpr auto bob = "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb";
constexpr auto some_time = "2024-01-01T00:00:00.000Z";

/// The `n`-th rev of an account.
tid rev(uint64_t n) {
  return tid{n << 20};
}

bytes commit_frame(int64_t seq, const char* who, uint64_t n) {
  atproto::commit_event x;
  x.seq = seq;
  x.repo = atproto::did::trusted(who);
  x.time = some_time;
  x.rev = rev(n);
  x.commit = {atproto::cid::codec_dag_cbor, atproto::digest{}};
  return atproto::encode_frame(x);
}

void commit(event_log& log, const char* who, uint64_t n) {
  log.append(0, [=](int64_t seq) { return commit_frame(seq, who, n); });
}

} // namespace

TEST(StreamCommitsTest, TheLastOfEachAccountWithinTheNumbers) {
  event_log log{{}};
  for (const uint64_t n : {1, 2, 3})
    commit(log, alice, n);
  commit(log, bob, 4);
  stream_commits known;
  EXPECT_EQ(known.last(log, 0, 2), (stream_commits::revs{{alice, rev(2)}}));
  EXPECT_EQ(known.last(log, 0, 4),
            (stream_commits::revs{{alice, rev(3)}, {bob, rev(4)}}));
  EXPECT_EQ(known.last(log, 3, 4), (stream_commits::revs{{bob, rev(4)}}));
  EXPECT_EQ(known.last(log, 0, 3), (stream_commits::revs{{alice, rev(3)}}));
}

TEST(StreamCommitsTest, OtherFramesAndThoseThatNobodyCanReadAreNone) {
  event_log log{{}};
  commit(log, alice, 1);
  log.append(0, [](int64_t seq) {
    return atproto::encode_frame(atproto::identity_event{
      seq, atproto::did::trusted(bob), some_time, ""});
  });
  log.append(0, [](int64_t seq) {
    auto half = commit_frame(seq, alice, 2);
    half.resize(half.size() / 2);
    return half;
  });
  stream_commits known;
  const stream_commits::revs one{{alice, rev(1)}};
  EXPECT_EQ(known.last(log, 0, 3), one);
  EXPECT_EQ(known.last(log, 0, 3), one);
}

TEST(StreamCommitsTest, AFrameWithANumberOfBeforeIsReadAgain) {
  event_log log{{}};
  commit(log, alice, 1);
  commit(log, alice, 2);
  stream_commits known;
  EXPECT_EQ(known.last(log, 0, 2), (stream_commits::revs{{alice, rev(2)}}));
  log.restart();
  commit(log, alice, 5);
  commit(log, bob, 6);
  EXPECT_EQ(known.last(log, 0, 2),
            (stream_commits::revs{{alice, rev(5)}, {bob, rev(6)}}));
}

TEST(StreamCommitsTest, WhatIsInTheWindowNoMoreIsNotTold) {
  event_log log{{}};
  log.append(1, [](int64_t seq) { return commit_frame(seq, alice, 1); });
  log.append(2, [](int64_t seq) { return commit_frame(seq, bob, 2); });
  stream_commits known;
  EXPECT_EQ(known.last(log, 0, 2).size(), 2u);
  log.erase(1);
  EXPECT_EQ(known.last(log, 0, 2), (stream_commits::revs{{bob, rev(2)}}));
}

} // namespace weir::tests

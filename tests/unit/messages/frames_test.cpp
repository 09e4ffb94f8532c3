#include "base/limits.hpp"
#include "messages/caf_types.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <gtest/gtest.h>

// What travels between nodes survives the way there, and a length is refused
// before it is believed.

namespace weir {
namespace {

using buffer = std::vector<char>;

template <class T>
buffer packed(const T& x) {
  buffer out;
  caf::binary_serializer sink{nullptr, out};
  auto copy = x;
  EXPECT_FALSE(sink(copy));
  return out;
}

template <class T>
caf::error unpack(const buffer& in, T& out) {
  caf::binary_deserializer source{nullptr, in};
  return source(out);
}

atproto::stamped_frame sample_frame() {
  atproto::stamped_frame out;
  out.at = {7, 3, 12'345};
  out.first_cursor = 99;
  out.relay = true;
  out.kind = atproto::frame_kind::commit;
  out.repo = atproto::did::trusted("did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  out.bytes = shared_bytes{bytes{1, 2, 3, 0, 255}};
  return out;
}

TEST(FramesMessage, ABatchSurvivesTheWayToAnotherNode) {
  frame_batch batch;
  batch.frames.push_back(sample_frame());
  batch.frames.push_back(sample_frame());
  batch.frames.back().bytes = {};
  batch.frames.back().relay = false;
  frame_batch out;
  ASSERT_FALSE(unpack(packed(batch), out));
  ASSERT_EQ(out.frames.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const auto& x = out.frames[i];
    const auto& sent = batch.frames[i];
    EXPECT_EQ(x.at, sent.at);
    EXPECT_EQ(x.first_cursor, sent.first_cursor);
    EXPECT_EQ(x.relay, sent.relay);
    EXPECT_EQ(x.kind, sent.kind);
    EXPECT_EQ(x.repo, sent.repo);
    EXPECT_TRUE(std::ranges::equal(x.bytes.view(), sent.bytes.view()));
  }
}

TEST(FramesMessage, WhatIsDoneSurvivesTheWayBack) {
  const frames_done done{4, {1, uint64_t{1} << 53, 7}, 3};
  frames_done out;
  ASSERT_FALSE(unpack(packed(done), out));
  EXPECT_EQ(out.epoch, done.epoch);
  EXPECT_EQ(out.seqs, done.seqs);
  EXPECT_EQ(out.refused, done.refused);
}

TEST(FramesMessage, AKindThatIsNotKnownYetIsUnknownAndABadDidIsNone) {
  auto bytes = packed(sample_frame());
  const std::string did = sample_frame().repo.str();
  const auto at
    = std::search(bytes.begin(), bytes.end(), did.begin(), did.end());
  ASSERT_NE(at, bytes.end());
  *at = 'x';
  *(at - 2) = 100; // The kind is in front of the DID's length.
  atproto::stamped_frame out;
  ASSERT_FALSE(unpack(bytes, out));
  EXPECT_EQ(out.kind, atproto::frame_kind::unknown);
  EXPECT_TRUE(out.repo.empty());
}

// limits::frame_bytes_max
TEST(FramesMessage, AFrameAtTheLimitPassesAndOneMoreByteIsRefused) {
  shared_bytes out;
  const shared_bytes most{bytes(limits::frame_bytes_max, uint8_t{7})};
  ASSERT_FALSE(unpack(packed(most), out));
  EXPECT_EQ(out.size(), most.size());
  const shared_bytes more{bytes(limits::frame_bytes_max + 1, uint8_t{7})};
  EXPECT_TRUE(unpack(packed(more), out));
}

TEST(FramesMessage, AnEndTooEarlyIsAnErrorWhereverItIs) {
  frame_batch batch;
  batch.frames.push_back(sample_frame());
  const auto whole = packed(batch);
  for (size_t n = 0; n < whole.size(); ++n) {
    frame_batch out;
    EXPECT_TRUE(unpack(buffer(whole.begin(), whole.begin() + n), out)) << n;
  }
}

} // namespace
} // namespace weir

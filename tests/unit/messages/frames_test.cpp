#include "base/limits.hpp"
#include "messages/caf_types.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <gtest/gtest.h>

// Messages between nodes survive encoding and decoding, and a length is checked
// before it is used.

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

/// A message that may travel, with a value in each of its fields. A new message
/// of the catalogue does not link before it has a sample here.
template <class T>
T sample();

template <>
frame_batch sample() {
  frame_batch out;
  out.frames.push_back(sample_frame());
  out.frames.push_back(sample_frame());
  out.frames.back().bytes = {};
  out.frames.back().relay = false;
  return out;
}

template <>
frames_done sample() {
  return {4, {1, uint64_t{1} << 53, 7}, 3};
}

template <>
frames_lost sample() {
  return {};
}

template <>
get_status sample() {
  return {};
}

template <>
actor_status sample() {
  return {"did:web:a.test", "repo", "router",
          {{"status", "synced"}, {"waiting", 3}}};
}

void expect_same(const atproto::stamped_frame& x,
                 const atproto::stamped_frame& sent) {
  EXPECT_EQ(x.at, sent.at);
  EXPECT_EQ(x.first_cursor, sent.first_cursor);
  EXPECT_EQ(x.relay, sent.relay);
  EXPECT_EQ(x.kind, sent.kind);
  EXPECT_EQ(x.repo, sent.repo);
  EXPECT_TRUE(std::ranges::equal(x.bytes.view(), sent.bytes.view()));
}

void expect_same(const frame_batch& x, const frame_batch& sent) {
  ASSERT_EQ(x.frames.size(), sent.frames.size());
  for (size_t i = 0; i < x.frames.size(); ++i)
    expect_same(x.frames[i], sent.frames[i]);
}

void expect_same(const frames_done& x, const frames_done& sent) {
  EXPECT_EQ(x.epoch, sent.epoch);
  EXPECT_EQ(x.seqs, sent.seqs);
  EXPECT_EQ(x.refused, sent.refused);
}

void expect_same(const frames_lost&, const frames_lost&) {}

void expect_same(const get_status&, const get_status&) {}

void expect_same(const actor_status& x, const actor_status& sent) {
  EXPECT_EQ(x, sent);
}

template <class T>
void expect_survives() {
  const auto sent = sample<T>();
  T out;
  ASSERT_FALSE(unpack(packed(sent), out));
  expect_same(out, sent);
}

template <class T>
void expect_no_end_too_early() {
  const auto whole = packed(sample<T>());
  for (size_t n = 0; n < whole.size(); ++n) {
    T out;
    EXPECT_TRUE(unpack(buffer(whole.begin(), whole.begin() + n), out)) << n;
  }
}

TEST(TravellingMessages, SurviveTheWayToAnotherNode) {
#define WEIR_SURVIVES(name) expect_survives<name>();
  WEIR_TRAVELLING_MESSAGES(WEIR_SURVIVES)
#undef WEIR_SURVIVES
}

TEST(TravellingMessages, AnEndTooEarlyIsAnErrorWhereverItIs) {
#define WEIR_ENDS(name) expect_no_end_too_early<name>();
  WEIR_TRAVELLING_MESSAGES(WEIR_ENDS)
#undef WEIR_ENDS
}

TEST(FramesMessage, AKindThatIsNotKnownYetIsUnknownAndABadDidIsNone) {
  auto bytes = packed(sample_frame());
  const std::string did = sample_frame().repo.str();
  const auto at
    = std::search(bytes.begin(), bytes.end(), did.begin(), did.end());
  ASSERT_NE(at, bytes.end());
  *at = 'x';
  *(at - 2) = 100; // The kind comes before the DID's length.
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

} // namespace
} // namespace weir

#include "atproto/limits.hpp"
#include "base/limits.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace weir::limits {

// A limit that contradicts another is either never or always reached.
TEST(LimitsTest, InnerBoundsFitIntoOuterOnes) {
  EXPECT_LE(nsid_bytes_max + 1 + record_key_bytes_max, mst_key_bytes_max);
  EXPECT_LE(cbor_depth_max, cbor_depth_hard_max);
  EXPECT_LE(frame_depth_max, cbor_depth_hard_max);
  EXPECT_LE(record_bytes_max, car_section_bytes_max);
  EXPECT_LE(mst_node_bytes_max, car_section_bytes_max);
  EXPECT_LE(commit_blocks_bytes_max, frame_bytes_max);
  EXPECT_LE(sync_blocks_bytes_max, frame_bytes_max);
  EXPECT_LE(cid_bytes_max, size_t{UINT8_MAX});
}

// protocol-coverage.md 0 and 10: limits that other implementations enforce,
// too.
// protocol-coverage.md 10.1, 10.2, 10.3, 10.8, 10.9, 10.10, 10.11
TEST(LimitsTest, NumbersOfTheProtocolAreExact) {
  EXPECT_EQ(did_bytes_max, 2048u);
  EXPECT_EQ(handle_bytes_max, 253u);
  EXPECT_EQ(nsid_bytes_max, 317u);
  EXPECT_EQ(record_key_bytes_max, 512u);
  EXPECT_EQ(mst_key_bytes_max, 1024u);
  EXPECT_EQ(safe_integer_max, (int64_t{1} << 53) - 1);
  EXPECT_EQ(cbor_depth_max, 63u);
  EXPECT_EQ(cbor_container_max, 131'072u);
  EXPECT_EQ(cbor_map_key_bytes_max, 8'192u);
  EXPECT_EQ(frame_bytes_max, 5'000'000u);
  EXPECT_EQ(commit_blocks_bytes_max, 2'000'000u);
  EXPECT_EQ(commit_ops_max, 200u);
  EXPECT_EQ(rev_future_max, std::chrono::minutes{5});
}

} // namespace weir::limits

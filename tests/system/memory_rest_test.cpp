#include "actors/support/limits.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <iostream>

namespace weir::tests {

// benchmarks.md, Memory after a backfill: a node returns the memory of a
// backfill when it is done.
TEST(MemoryRestTest, AfterABackfillItsMemoryGoesBackToTheSystem) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "most of the memory would be the sanitizer's";
#endif
  constexpr size_t accounts = 60;
  followed_network network{7, accounts, 40'000};
  hostile_node node{{"relay:" + network.urls().relay},
                    network.urls().plc};
  ASSERT_TRUE(node.await_metric("weir_repos_synced", accounts));
  const auto held = node.metric("weir_store_memory_bytes");
  ASSERT_GT(held, limits::heap_return_bytes);
  const auto before = node.resident_bytes();
  ASSERT_TRUE(eventually(node_patience, [&] {
    return node.metric("weir_store_memory_bytes") < held / 10;
  }));
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.resident_bytes() + limits::heap_return_bytes <= before;
  })) << before
      << " and " << node.resident_bytes();
  std::cout << "after the backfill " << before / megabyte << " MiB, at rest "
            << node.resident_bytes() / megabyte << std::endl;
  EXPECT_TRUE(node.is_healthy());
}

} // namespace weir::tests

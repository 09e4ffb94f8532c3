#include "base/random.hpp"
#include "storage/format/crc32c.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir::storage {

TEST(ChecksumTest, EqualsThePublishedValues) {
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(ChecksumTest, IsTheSameWithAndWithoutTheInstruction) {
  const auto random = seeded_random(1);
  for (size_t size = 0; size < 300; ++size) {
    std::string data(size, '\0');
    for (auto& c : data)
      c = static_cast<char>(random->next());
    const auto seed = static_cast<uint32_t>(random->next());
    EXPECT_EQ(crc32c(data, seed), crc32c_portable(data, seed)) << size;
  }
}

TEST(ChecksumTest, GoesOnFromItsSeed) {
  const std::string data = "one record of the log, in two pieces";
  for (size_t cut = 0; cut <= data.size(); ++cut)
    EXPECT_EQ(crc32c(data.substr(cut), crc32c(data.substr(0, cut))),
              crc32c(data));
}

} // namespace weir::storage

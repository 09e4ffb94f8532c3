#include "storage/disk/merged_reader.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/verify/verify.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <filesystem>

// docs/adr/0026-partitions.md
namespace weir::storage {
namespace {

class PartitionStoresTest : public testing::Test {
protected:
  auto open(uint16_t partitions, access_mode access = access_mode::owner,
            const std::function<bool()>& end_wanted = {}) {
    database_options options;
    options.directory = data_dir;
    options.access = access;
    options.write_buffer_bytes = 65'536;
    options.block_cache_bytes = 65'536;
    return open_partition_stores(options, partitions, end_wanted);
  }

  /// The error of a refused open.
  std::string refusal(uint16_t partitions) {
    const auto x = open(partitions);
    if (x)
      return "it was opened";
    EXPECT_EQ(x.error().code, ec::invalid_argument);
    return x.error().context;
  }

  std::string at(uint16_t partition) const {
    return partition_directory(data_dir, partition);
  }

  const tests::temp_dir dir;
  const std::string data_dir = dir.at("data");
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(PartitionStoresTest, AllHaveOneLogIdentityAndTheirOwnNumbers) {
  uint64_t identity = 0;
  for (const auto wanted : {uint16_t{4}, uint16_t{0}, uint16_t{4}}) {
    const auto all = open(wanted).value();
    ASSERT_EQ(all.size(), 4u);
    for (uint16_t i = 0; i < 4; ++i) {
      const auto& x = all[i]->identity();
      EXPECT_EQ(x.partition, i);
      EXPECT_EQ(x.partitions, 4u);
      EXPECT_EQ(x.log_identity, all[0]->log_identity());
    }
    EXPECT_TRUE(identity == 0 || identity == all[0]->log_identity());
    identity = all[0]->log_identity();
  }
  EXPECT_EQ(open(0, access_mode::read_only).value().size(), 4u);
}

// Data directories from before the option existed open unchanged.
TEST_F(PartitionStoresTest, OneStoreAloneSaysNothingOfPartitions) {
  const store_identity alone{.log_identity = 1};
  EXPECT_EQ(to_text(alone), "weir store\nformat: unstable 5\n"
                            "identity: 0000000000000001\n");
  EXPECT_EQ(parse_store_identity(to_text(alone)), alone);
  ASSERT_TRUE(open(1));
  EXPECT_EQ(open(0).value().size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(at(1)));
}

TEST_F(PartitionStoresTest, AFileThatSaysItInAnotherWayIsDamaged) {
  const store_identity x{.log_identity = 1, .partition = 2, .partitions = 4};
  const auto text = to_text(x);
  EXPECT_TRUE(text.ends_with("\npartition: 2 of 4\n"));
  EXPECT_EQ(parse_store_identity(text), x);
  const auto begin = text.substr(0, text.find("partition"));
  for (const auto* end : {"partition: 4 of 4\n", "partition: 2 of 4",
                          "partition: 02 of 4\n", "partition: 0 of 1\n",
                          "partition: 2 of 4 \n", "partition: 2\n",
                          "partition: 2 of 65537\n", "other: 2 of 4\n"})
    EXPECT_EQ(parse_store_identity(begin + end), std::nullopt) << end;
}

TEST_F(PartitionStoresTest, AnotherCountIsRefusedAndBothAreNamed) {
  ASSERT_TRUE(open(4));
  const auto fewer = refusal(1);
  EXPECT_TRUE(contains(fewer, "made with partitions = 4")) << fewer;
  EXPECT_TRUE(contains(fewer, "partitions = 1")) << fewer;
  EXPECT_TRUE(open(4));
  std::filesystem::remove_all(data_dir);
  ASSERT_TRUE(open(1));
  EXPECT_TRUE(contains(refusal(2), "made with partitions = 1"));
}

TEST_F(PartitionStoresTest, AMissingOneIsRefusedAndNotMade) {
  ASSERT_TRUE(open(3));
  std::filesystem::remove_all(at(2));
  const auto text = refusal(3);
  EXPECT_TRUE(contains(text, at(2))) << text;
  EXPECT_FALSE(std::filesystem::exists(at(2)));
}

// On a slow disk each store takes seconds, and there are up to 32.
TEST_F(PartitionStoresTest, AnOpeningEndsWhereverItIsAskedToAndCanBeRepeated) {
  constexpr uint16_t partitions = 4;
  size_t asked = 0;
  for (size_t ended_at = 1;; ++ended_at) {
    asked = 0;
    const auto x = open(partitions, access_mode::owner, [&] {
      return ++asked == ended_at;
    });
    if (x)
      break;
    EXPECT_EQ(x.error().code, ec::cancelled);
    EXPECT_EQ(asked, ended_at); // Nothing more was done.
  }
  // Before each further store, and before each row that says they are open.
  EXPECT_EQ(asked, (partitions - 1) + partitions);
}

// A start that ended before all were made is continued by the next.
TEST_F(PartitionStoresTest, UntilAllWereMadeAMissingOneIsMade) {
  {
    database_options first;
    first.directory = data_dir;
    first.expected = store_identity{.partitions = 3};
    ASSERT_TRUE(database::open(first));
  }
  const auto unfinished = open(0, access_mode::read_only);
  ASSERT_FALSE(unfinished);
  EXPECT_EQ(unfinished.error().code, ec::not_found);
  EXPECT_TRUE(contains(unfinished.error().context, at(1) + " yet"));
  EXPECT_EQ(open(3).value().size(), 3u);
  std::filesystem::remove_all(at(1));
  EXPECT_TRUE(contains(refusal(3), at(1)));
}

TEST_F(PartitionStoresTest, OneOfAnotherPlaceOrLogIsRefused) {
  ASSERT_TRUE(open(3));
  const auto aside = dir.at("aside");
  std::filesystem::rename(at(1), aside);
  std::filesystem::rename(at(2), at(1));
  std::filesystem::rename(aside, at(2));
  EXPECT_TRUE(contains(refusal(3), "is not partition 1"));
  std::filesystem::rename(data_dir, aside);
  ASSERT_TRUE(open(3));
  std::filesystem::remove_all(at(2));
  std::filesystem::rename(aside + "/partition-1", at(2));
  EXPECT_TRUE(contains(refusal(3), "is not partition 2"));
}

// The stream of the node is behind what an older copy has, so its repos would
// stay old, and its next events would get ids that others had.
TEST_F(PartitionStoresTest, AnOlderCopyOfOneIsRefusedHoweverOftenItIsTried) {
  ASSERT_TRUE(open(3));
  const auto copy = dir.at("copy");
  std::filesystem::copy(at(2), copy, std::filesystem::copy_options::recursive);
  ASSERT_TRUE(open(3));
  std::filesystem::remove_all(at(2));
  std::filesystem::copy(copy, at(2), std::filesystem::copy_options::recursive);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(contains(refusal(3), at(2) + " is older")) << i;
  EXPECT_FALSE(open(3, access_mode::read_only));
}

// The others have positions that the streams of an older first store were never
// at, and its next events would get ids that others had.
TEST_F(PartitionStoresTest, AnOlderCopyOfTheFirstIsRefusedToo) {
  ASSERT_TRUE(open(2));
  const auto copy = dir.at("copy");
  std::filesystem::copy(data_dir, copy,
                        std::filesystem::copy_options::recursive);
  ASSERT_TRUE(open(2));
  std::filesystem::remove_all(copy + "/partition-1");
  std::filesystem::rename(at(1), copy + "/partition-1");
  std::filesystem::remove_all(data_dir);
  std::filesystem::rename(copy, data_dir);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(contains(refusal(2), data_dir + " is older")) << i;
  EXPECT_FALSE(open(2, access_mode::read_only));
}

// Starts that ended before all were open make no store of them older.
TEST_F(PartitionStoresTest, OneThatWasOpenedMoreOftenIsWelcome) {
  ASSERT_TRUE(open(3));
  database_options one;
  for (int i = 0; i < 3; ++i)
    for (const auto& directory : {data_dir, at(1)}) {
      one.directory = directory;
      ASSERT_TRUE(database::open(one));
    }
  EXPECT_TRUE(open(3));
  EXPECT_TRUE(open(3));
}

TEST_F(PartitionStoresTest, OneAloneIsNoDataDirectory) {
  ASSERT_TRUE(open(3));
  database_options one;
  one.directory = at(1);
  for (const auto access : {access_mode::read_only, access_mode::owner}) {
    one.access = access;
    const auto x = open_partition_stores(one, 0);
    ASSERT_FALSE(x);
    EXPECT_TRUE(contains(x.error().context, "partition 1 alone"));
  }
  EXPECT_TRUE(open(3));
}

TEST_F(PartitionStoresTest, RowsOfAllAreReadInOneOrder) {
  const auto all = open(3).value();
  std::vector<const database*> stores;
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 100; ++i)
    ASSERT_TRUE(tests::put_row(*all[i * i % 3], i));
  for (const auto& x : all)
    stores.push_back(x.get());
  merged_reader rows{stores, range_of<time_index_key>()};
  for (; rows.valid(); rows.next())
    keys.emplace_back(rows.key());
  EXPECT_TRUE(rows.status());
  ASSERT_EQ(keys.size(), 100u);
  for (uint64_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(keys[i], tests::row_key(i));
}

TEST_F(PartitionStoresTest, TheCheckerReadsAllAndSaysWhere) {
  const auto all = open(2).value();
  EXPECT_EQ(verify_stores(all).value().findings_total, 0u);
  write_batch rows;
  rows.put(encode_key(meta_key{"stranger"}), "x");
  ASSERT_TRUE(all[1]->write(rows, sync_mode::durable));
  const auto report = verify_stores(all).value();
  ASSERT_EQ(report.findings_total, 1u);
  EXPECT_EQ(report.findings.at(0).where, "partition 1: meta");
}

} // namespace
} // namespace weir::storage

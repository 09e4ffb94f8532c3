#include "storage/format/keys.hpp"
#include "storage/tables/filter_table.hpp"
#include "tests/unit/storage/full_store.hpp"

#include <gmock/gmock.h>

// Every table is read: storage-format.md 6.

namespace weir::storage {
namespace {

using testing::HasSubstr;

/// The tables of the format that `to_string` knows: a table that is added later
/// is included automatically.
std::vector<table> all_tables() {
  std::vector<table> out;
  for (int i = 0; i < 256; ++i)
    if (std::string_view{to_string(static_cast<table>(i))} != "unknown")
      out.push_back(static_cast<table>(i));
  return out;
}

std::string prefix_of(table x) {
  return {static_cast<char>(x)};
}

class VerifyTablesTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(store.findings(), ""); }

  tests::full_store store;
};

TEST_F(VerifyTablesTest, EveryTableThatIsWrittenHasARowHere) {
  EXPECT_EQ(all_tables().size(), 25u);
  for (const auto in : all_tables())
    EXPECT_TRUE(
      store.db->scan({prefix_of(in), prefix_end(prefix_of(in))}).valid())
      << to_string(in);
}

TEST_F(VerifyTablesTest, AKeyThatCannotBeDecodedIsFoundInEveryTable) {
  for (const auto in : all_tables())
    for (const auto& rest :
         {std::string{}, std::string{"\x05"}, std::string(40, '\xff')})
      EXPECT_THAT(store.findings_with(prefix_of(in) + rest, ""),
                  HasSubstr(to_string(in)))
        << to_string(in) << ", " << rest.size() << " bytes";
  EXPECT_EQ(store.findings(), "");
}

TEST_F(VerifyTablesTest, AValueThatCannotBeDecodedIsFoundInEveryTable) {
  for (const auto in : all_tables()) {
    auto rows = store.db->scan({prefix_of(in), prefix_end(prefix_of(in))});
    const auto key = rows.valid() ? std::string{rows.key()} : prefix_of(in);
    for (const auto* junk : {"\x02junk", "\x01"})
      EXPECT_NE(store.findings_with(key, junk), "") << to_string(in);
  }
  EXPECT_EQ(store.findings(), "");
}

TEST_F(VerifyTablesTest, ARowOfNoTableIsFound) {
  for (int i = 0; i < 256; ++i) {
    const auto in = static_cast<table>(i);
    if (std::string_view{to_string(in)} == "unknown") {
      EXPECT_THAT(store.findings_with(prefix_of(in) + "row", "value"),
                  HasSubstr("a table that has no writer"))
        << i;
    }
  }
}

TEST_F(VerifyTablesTest, ARowOfAnotherPartitionIsFound) {
  const auto expect = [&](const std::string& key, const std::string& value) {
    EXPECT_THAT(store.findings_with(key, value), HasSubstr("partition"));
  };
  const auto number = encode_value(counter{1});
  expect(encode_key(log_block_key{1, 1}),
         store.get_raw(encode_key(log_block_key{0, 1})));
  expect(encode_key(content_block_key{1, 1}), "");
  expect(encode_key(time_index_key{1, 1}), number);
  expect(encode_key(record_head_key{1, store.synced.repo, 16, {"1"}}), "");
  expect(encode_key(acked_key{default_dataset, "tap", 1, 20}), number);
  expect(encode_key(dead_letter_key{default_dataset, "tap", 1, 1}),
         encode_value(dead_letter_row{}));
}

TEST_F(VerifyTablesTest, AStoreWithoutARowIsSound) {
  for (const auto& key : store.keys())
    store.erase_raw(key);
  EXPECT_EQ(store.findings(), "");
}

// -- of the node --------------------------------------------------------------

TEST_F(VerifyTablesTest, MetaSaysWhatTheFileFormatSays) {
  const auto expect
    = [&](const char* name, const std::optional<std::string>& value,
          const std::string& words) {
        EXPECT_THAT(store.findings_with(encode_key(meta_key{name}), value),
                    HasSubstr(words));
      };
  const auto text = as_bytes("another format");
  expect("format", encode_value(stored_bytes{{text.begin(), text.end()}}),
         "it says another format than FORMAT");
  expect("log_identity", encode_value(counter{1}),
         "it says another identity than FORMAT");
  for (const auto* name : {"format", "log_identity", "store_epoch"})
    expect(name, std::nullopt, std::string{name} + " is missing");
  expect("other", encode_value(counter{1}), "nothing is called other");
}

TEST_F(VerifyTablesTest, UpstreamsAreNumberedAndNoneIsThereTwice) {
  const auto expect = [&](uint32_t id, const std::optional<std::string>& value,
                          const std::string& words) {
    EXPECT_THAT(store.findings_with(encode_key(upstream_key{id}), value),
                HasSubstr(words));
  };
  auto row
    = decode_value<upstream_row>(store.get_raw(encode_key(upstream_key{2})))
        .value();
  expect(1, std::nullopt, "upstream 2: ids before it are missing");
  row.id = 3;
  expect(3, encode_value(row), "upstream 3: it is at the same place as 2");
  row.id = 2;
  row.epoch = 0;
  expect(2, encode_value(row), "it has no epoch");
  row.epoch = 1;
  row.ends = 1;
  expect(2, encode_value(row), "it counts process ends for a frame");
  row.suspect = 5; // In a life that was never careful.
  row.life = stream_life::running;
  expect(2, encode_value(row), "it counts process ends for a frame");
  expect(2, std::nullopt,
         "it has a position of upstream 2, which there is "
         "not");
  expect(2, std::nullopt, "listing at 2: there is no such upstream");
}

TEST_F(VerifyTablesTest, APositionOfAnEpochToComeIsFound) {
  const auto key = encode_key(repo_key{store.synced.repo});
  auto row = store.synced.row;
  row.fcsr.epoch = 2;
  EXPECT_THAT(store.findings_with(key, encode_value(row)),
              HasSubstr("an epoch that upstream 2 was never in"));
}

TEST_F(VerifyTablesTest, AListingOfACollectionWithoutANameIsFound) {
  EXPECT_THAT(store.findings_with(encode_key(listing_key{1, 99}),
                                  encode_value(listing_row{})),
              HasSubstr("its collection has no name"));
}

TEST_F(VerifyTablesTest, ARepoWithAHostHasAnIdentity) {
  EXPECT_THAT(store.findings_with(encode_key(identity_key{store.synced.repo}),
                                  std::nullopt),
              HasSubstr("it has a host or handle, but no identity"));
  const auto nobody = atproto::did::trusted("nobody");
  EXPECT_THAT(store.findings_with(encode_key(identity_key{nobody}),
                                  encode_value(identity_row{})),
              HasSubstr("nobody is no DID"));
}

TEST_F(VerifyTablesTest, DatasetsThatThereAreNotAreFound) {
  const auto expect = [&](const std::string& key, const std::string& value) {
    EXPECT_THAT(store.findings_with(key, value),
                HasSubstr("dataset that does not exist"));
  };
  expect(encode_key(configuration_key{2, "mode"}),
         encode_value(stored_bytes{}));
  expect(encode_key(member_key{2, store.synced.repo}),
         encode_value(member_row{}));
  expect(encode_key(consumer_key{2, "tap"}),
         encode_value(consumer_row{{0}, store.db->log_identity(), false}));
}

TEST_F(VerifyTablesTest, AListingBegunElsewhereIsFound) {
  listing_row row;
  row.noted = {2, 1, 5};
  EXPECT_THAT(
    store.findings_with(encode_key(listing_key{1, 0}), encode_value(row)),
    HasSubstr("it was begun at another upstream"));
}

TEST_F(VerifyTablesTest, AFilterThatCannotBeReadIsFound) {
  EXPECT_THAT(store.findings_with(
                encode_key(configuration_key{default_dataset, filter_setting}),
                encode_value(stored_bytes{{0xff}})),
              HasSubstr(std::string{filter_setting} + ":"));
}

} // namespace
} // namespace weir::storage

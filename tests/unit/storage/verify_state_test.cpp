#include "storage/tables/filter_table.hpp"
#include "tests/unit/storage/verify_fixture.hpp"

// Every kind of damage is found: architecture.md I2, I6; storage-format.md 6.

namespace weir::storage {
namespace {

using testing::HasSubstr;
using testing::Not;
using tests::numbered;
using tests::test_account;

class VerifyStateTest : public tests::verify_fixture {};

// -- heads --------------------------------------------------------------------

TEST_F(VerifyStateTest, AMissingHeadIsFound) {
  store.erase_raw(head_key("app.a.x/000005"));
  expect("tables", "app.a.x/000005: its record head is missing");
  expect("I2", "another root");
}

TEST_F(VerifyStateTest, AHeadOfNothingIsFound) {
  store.put_raw(head_key("app.a.x/000002"),
                store.get_raw(head_key("app.a.x/000001")));
  expect("tables", "000002: its record head has no operation");
  expect("I2", "another root");
}

TEST_F(VerifyStateTest, AHeadThatIsNotItsLastOperationIsFound) {
  using spoil = std::function<void(record_head&)>;
  for (const spoil& change : {spoil{[](auto& x) {
                                x.op = 2;
                              }},
                              spoil{[](auto& x) {
                                x.id = tests::cid_of("other");
                              }},
                              spoil{[](auto& x) {
                                x.rev = atproto::tid{1};
                              }},
                              spoil{[](auto& x) {
                                x.content = 3;
                              }}}) {
    const auto good = store.get_raw(head_key("app.a.x/000001"));
    change_row<record_head>(head_key("app.a.x/000001"), change);
    expect("tables", "000001: its record head is not what operation");
    store.put_raw(head_key("app.a.x/000001"), good);
  }
}

TEST_F(VerifyStateTest, AHeadOfAnUnknownRepoIsFound) {
  store.put_raw(encode_key(record_head_key{
                  0, test_account{'z'}.repo, collection("app.a.x"), {"1"}}),
                store.get_raw(head_key("app.a.x/000001")));
  expect("tables", "it has record heads that no chain counts");
}

TEST_F(VerifyStateTest, ADamagedHeadIsFound) {
  store.put_raw(head_key("app.a.x/000001"), "\x01\x07");
  expect("tables", "a value of the table record_head is damaged");
}

TEST_F(VerifyStateTest, WhatShouldHaveBeenErasedIsFound) {
  const auto old = store.get_raw(head_key("app.a.x/000001"));
  apply(alice, alice.erase());
  while (store.writer->erase_step(alice.repo).value()) {
    // nop
  }
  EXPECT_EQ(store.findings(), "");
  store.put_raw(head_key("app.a.x/000001"), old);
  expect("tables", "its record head should have been erased");
}

// -- references, members ------------------------------------------------------

TEST_F(VerifyStateTest, ReferencesMustBeThoseOfTheHeads) {
  const std::string key{
    store.db->scan(range_of<content_reference_key>()).key()};
  const auto good = store.get_raw(key);
  store.erase_raw(key);
  expect("I6", "its content reference is missing");
  store.put_raw(key, encode_value(counter{3}));
  expect("I6", "names other content");
  store.put_raw(key, good);
  store.put_raw(encode_key(content_reference_key{
                  short_hash_of(tests::cid_of("record1")), 0, 2}),
                encode_value(counter{2}));
  expect("I6", "operation 2: a content reference stands that no record wants");
}

TEST_F(VerifyStateTest, HoldersOfACollectionMustHoldIt) {
  const auto key
    = encode_key(collection_member_key{0, collection("app.b.y"), alice.repo});
  store.erase_raw(key);
  expect("tables", "the repo is not listed as holding the collection");
  store.put_raw(key, encode_value(holder_row{1, true}));
  EXPECT_EQ(store.findings(), "");
  store.put_raw(encode_key(collection_member_key{0, collection("app.b.y"),
                                                 test_account{'z'}.repo}),
                encode_value(holder_row{1, true}));
  expect("tables", "a collection that it does not hold");
}

// -- repos --------------------------------------------------------------------

TEST_F(VerifyStateTest, TheStatusIndexMustBeThatOfTheRows) {
  const auto key
    = encode_key(repo_by_status_key{repo_status::synced, 0, alice.repo});
  store.erase_raw(key);
  expect("tables", "the status index lacks it");
  store.put_raw(key, "");
  store.put_raw(
    encode_key(repo_by_status_key{repo_status::error, 7, alice.repo}), "");
  expect("tables", "the status index has it as error");
}

TEST_F(VerifyStateTest, AMissingRepoRowIsFound) {
  store.erase_raw(encode_key(repo_key{alice.repo}));
  expect("tables", "it has a chain with records, but no row");
  expect("tables", "the status index has it as synced");
}

TEST_F(VerifyStateTest, RowsOfAnUnknownRepoAreFound) {
  const auto unknown = test_account{'z'}.repo;
  store.put_raw(encode_key(member_key{default_dataset, unknown}),
                encode_value(member_row{}));
  expect("tables", "it is a member of a dataset without a row");
  store.put_raw(encode_key(sync_buffer_key{unknown, 1}),
                encode_value(waiting_row{}));
  expect("tables", "it has waiting commits without a row");
  store.put_raw(encode_key(erasure_key{unknown}), encode_value(erasure_row{}));
  expect("tables", "what is being erased is not what its chain says");
}

TEST_F(VerifyStateTest, OnlyWholeSyncedReposHaveTheirRootRebuilt) {
  change_chain([](auto& x) {
    x.data = tests::cid_of("other");
  });
  expect("I2", "another root");
  const auto generation = alice.row.filter_generation;
  const auto filter_is = [&](filter_row x) {
    journal_batch group;
    group.configuration.push_back(filter_change(x));
    store.commit(std::move(group));
  };
  filter_is({generation, {"app.a.x"}});
  EXPECT_THAT(store.findings(), Not(HasSubstr("I2")));
  filter_is({generation, {}});
  expect("I2", "another root");
  // What the former filter let pass is not known.
  filter_is({generation + 1, {}});
  EXPECT_THAT(store.findings(), Not(HasSubstr("I2")));
  filter_is({generation, {}});
  store.put_raw(encode_key(member_key{default_dataset, alice.repo}),
                encode_value(member_row{0, {"app.a.x"}}));
  EXPECT_THAT(store.findings(), Not(HasSubstr("I2")));
}

// -- collections, consumers, upstreams ----------------------------------------

TEST_F(VerifyStateTest, NamesAndIdsOfCollectionsMustAgree) {
  const auto key = encode_key(collection_id_key{"app.b.y"});
  change_row<counter>(key, [](counter& x) {
    x.value = 16;
  });
  expect("tables", "collection app.b.y: its id belongs to another name");
  store.erase_raw(key);
  expect("tables", "2 have a name, 1 an id");
  store.erase_raw(encode_key(meta_key{"next_collection_id"}));
  EXPECT_THAT(store.findings(),
              HasSubstr("a collection has the id 16, which was never given"));
}

TEST_F(VerifyStateTest, ConsumersMustLieWithinTheLog) {
  const auto spoil = [&](consumer_row row, std::vector<acked_range> acked,
                         const std::string& words) {
    journal_batch group;
    consumer_change tap;
    tap.name = "tap";
    tap.row = row;
    tap.acked = acked;
    group.consumers.push_back(tap);
    store.commit(std::move(group));
    EXPECT_THAT(store.findings(), HasSubstr(words));
    for (const auto& range : acked)
      store.erase_raw(
        encode_key(acked_key{default_dataset, "tap", 0, range.first}));
  };
  const auto log = store.db->log_identity();
  spoil({{9'999}, log, false}, {}, "position lies after the end of the log");
  spoil({{1, 1}, log, false}, {}, "2 positions in a log of one partition");
  spoil({{}, log, false}, {}, "0 positions");
  spoil({{1}, log + 1, false}, {}, "belongs to another log");
  spoil({{10}, log, false}, {{10, 12}}, "overlaps");
  spoil({{10}, log, false}, {{12, 15}, {15, 18}}, "overlaps");
  spoil({{10}, log, false}, {{12, 11}}, "or is empty");
  spoil({{10}, log, false}, {{12, 9'999}}, "ends after the end of the log");
  spoil({{1}, log, false, 9'999, 0}, {}, "counts more events than the log has");
  spoil({{10}, log, false, 0, 1}, {}, "counts 1 dead letters and has 0");
  store.put_raw(encode_key(dead_letter_key{default_dataset, "tap", 0, 9'999}),
                encode_value(dead_letter_row{}));
  expect("tables", "a dead letter lies after the end of the log");
  store.erase_raw(encode_key(consumer_key{default_dataset, "tap"}));
  expect("tables", "it has dead letters but no row");
}

TEST_F(VerifyStateTest, AnUpstreamRowUnderAnotherIdIsFound) {
  upstream_row row;
  row.id = 1;
  store.put_raw(encode_key(upstream_key{2}), encode_value(row));
  expect("tables", "upstream 2: its row is another one's");
}

} // namespace
} // namespace weir::storage

#include "storage/format/content_block.hpp"
#include "tests/unit/storage/verify_fixture.hpp"

// Every kind of damage is found: architecture.md I3; storage-format.md 6.

namespace weir::storage {
namespace {

using testing::HasSubstr;
using tests::numbered;
using tests::test_account;

class VerifyLogTest : public tests::verify_fixture {};

TEST_F(VerifyLogTest, ASoundStoreIsCountedCompletely) {
  const auto report = verify_store(*store.db).value();
  EXPECT_EQ(report.findings_total, 0u);
  const auto& counts = report.counts;
  EXPECT_EQ(counts.at("operations"), store.writer->last_id());
  EXPECT_EQ(counts.at("log blocks"), 7u);
  EXPECT_EQ(counts.at("records"), alice.records.size() + bob.records.size());
  EXPECT_EQ(counts.at("roots rebuilt"), 2u);
  EXPECT_EQ(counts.at("repos"), 2u);
  EXPECT_EQ(counts.at("chains"), 2u);
  EXPECT_EQ(counts.at("content references"), 1u);
  EXPECT_EQ(counts.at("collections"), 2u);
}

TEST_F(VerifyLogTest, ASmallFoldLimitGivesTheSameAnswer) {
  verify_options options;
  options.fold_records_max = 3;
  EXPECT_EQ(store.findings(options), "");
  store.erase_raw(head_key("app.a.x/000007"));
  EXPECT_THAT(store.findings(options), HasSubstr("000007: its record head is "
                                                 "missing"));
}

TEST_F(VerifyLogTest, FindingsAreCountedBeyondThoseKept) {
  for (size_t i = 10; i < 20; ++i)
    store.erase_raw(head_key(numbered("app.a.x/", i)));
  verify_options options;
  options.findings_max = 2;
  const auto report = verify_store(*store.db, options).value();
  EXPECT_EQ(report.findings.size(), 2u);
  EXPECT_GE(report.findings_total, 10u);
}

// -- the log ------------------------------------------------------------------

TEST_F(VerifyLogTest, AMissingBlockIsFound) {
  store.erase_raw(encode_key(log_block_key{0, 42}));
  expect("I3", "operations from 42 on are missing");
}

TEST_F(VerifyLogTest, AMissingFirstBlockIsFound) {
  store.erase_raw(encode_key(log_block_key{0, 1}));
  expect("I3", "operations from 1 on are missing");
}

TEST_F(VerifyLogTest, AMissingLastBlockIsFound) {
  const auto last = store.writer->last_id() - 1;
  store.erase_raw(encode_key(log_block_key{0, last}));
  expect("tables", "does not hold its index");
}

TEST_F(VerifyLogTest, AFlippedBitInABlockIsFound) {
  const auto key = encode_key(log_block_key{0, 42});
  auto value = store.get_raw(key);
  value[value.size() / 2] = static_cast<char>(value[value.size() / 2] ^ 4);
  store.put_raw(key, value);
  expect("I3", "operation 42");
}

TEST_F(VerifyLogTest, ARewrittenBlockWithARightChecksumIsFound) {
  change_block(1, [](log_block& x) {
    x.ops[3].id = tests::cid_of("forged");
  });
  expect("I3", "it does not carry the hash of the block before it");
  expect("I3", "the hash before index");
  expect("tables", "its content does not hash to its CID");
}

TEST_F(VerifyLogTest, ARewrittenLastBlockIsFoundByItsStream) {
  const auto last = store.writer->last_id() - 1;
  change_block(last, [](log_block& x) {
    x.time_us += 1'000;
  });
  expect("I3", "the chain has another hash than the stream");
}

TEST_F(VerifyLogTest, ABlockThatGoesBackInTimeIsFound) {
  change_block(42, [](log_block& x) {
    x.written_us = 5;
  });
  expect("I3", "its time lies before");
}

TEST_F(VerifyLogTest, AWrongCountOfEventsIsFound) {
  change_block(42, [](log_block& x) {
    ++x.events_before;
  });
  expect("I3", "it counts other events before it than there are");
}

TEST_F(VerifyLogTest, ADamagedTimeIndexIsFound) {
  const auto range = range_of<time_index_key>();
  const std::string key{store.db->scan(range).key()};
  change_row<counter>(key, [](counter& x) {
    x.value = 2;
  });
  expect("tables", "the time index does not name it");
  store.erase_raw(key);
  expect("tables", "the time index lacks its minute");
  store.put_raw(encode_key(time_index_key{0, 0xffffffff}),
                encode_value(counter{1}));
  expect("tables", "a minute in which nothing was written");
}

// -- content ------------------------------------------------------------------

TEST_F(VerifyLogTest, MissingContentIsFound) {
  store.erase_raw(encode_key(content_block_key{0, 1}));
  expect("tables", "operation 7: its content is missing");
}

TEST_F(VerifyLogTest, AFlippedBitInContentIsFound) {
  const auto key = encode_key(content_block_key{0, 1});
  auto value = store.get_raw(key);
  value.back() = static_cast<char>(value.back() ^ 1);
  store.put_raw(key, value);
  expect("tables", "operation 40");
}

TEST_F(VerifyLogTest, AContentBlockThatCannotBeOpenedIsOneFinding) {
  store.put_raw(encode_key(content_block_key{0, 1}), "\x01");
  EXPECT_EQ(verify_store(*store.db)->findings_total, 1u);
}

TEST_F(VerifyLogTest, OtherContentWithARightChecksumIsFound) {
  content_block_writer forged;
  for (size_t i = 0; i < 40; ++i)
    forged.add(as_bytes("forged"));
  store.put_raw(encode_key(content_block_key{0, 1}), forged.take());
  expect("tables", "operation 5: its content does not hash to its CID");
}

TEST_F(VerifyLogTest, ContentThatNothingNamesIsFound) {
  content_block_writer more;
  more.add(as_bytes("stray"));
  store.put_raw(encode_key(content_block_key{0, 5'000}), more.take());
  expect("tables", "content is stored that no operation names");
}

// -- streams and chains -------------------------------------------------------

TEST_F(VerifyLogTest, AMissingStreamRowIsFound) {
  store.erase_raw(encode_key(
    stream_block_key{alice.repo, collection("app.a.x"), main_branch, 0}));
  expect("I3", "index 0 is followed by 40");
}

TEST_F(VerifyLogTest, AStreamRowThatNamesAnotherBlockIsFound) {
  change_row<stream_run>(encode_key(stream_block_key{
                           alice.repo, collection("app.a.x"), main_branch, 0}),
                         [](stream_run& x) {
                           x.block = 42;
                         });
  expect("tables", "operation 42 does not hold its index 0");
}

TEST_F(VerifyLogTest, AStreamRowWithAWrongCountIsFound) {
  change_row<stream_run>(encode_key(stream_block_key{
                           alice.repo, collection("app.a.x"), main_branch, 0}),
                         [](stream_run& x) {
                           x.count = 39;
                         });
  expect("tables", "its row says 39 operations");
}

TEST_F(VerifyLogTest, AChangedChainIsFound) {
  const auto spoil = [&](const std::function<void(chain_row&)>& change,
                         const std::string& words) {
    const auto key = encode_key(chain_key{alice.repo});
    const auto good = store.get_raw(key);
    change_chain(change);
    EXPECT_THAT(store.findings(), HasSubstr(words));
    store.put_raw(key, good);
  };
  spoil(
    [](auto& x) {
      x.data = tests::cid_of("other");
    },
    "the tree over its records has another root");
  spoil(
    [](auto& x) {
      x.streams[0].hash[0] ^= 1;
    },
    "the chain has another hash than the stream");
  spoil(
    [](auto& x) {
      ++x.streams[0].next_index;
    },
    "the chain goes on at");
  spoil(
    [](auto& x) {
      ++x.streams[1].records;
    },
    "the chain counts");
  spoil(
    [](auto& x) {
      ++x.record_count;
    },
    "record count is not the sum");
  spoil(
    [](auto& x) {
      x.streams.erase(x.streams.begin());
    },
    "the chain lacks this stream");
  spoil(
    [](auto& x) {
      x.commit = {};
    },
    "the chain is only half there");
  spoil(
    [](auto& x) {
      x.erased_through = 9'999;
    },
    "more is erased than was ever written");
  spoil(
    [](auto& x) {
      x.erased_through = 9'999;
    },
    "row and chain differ in what is erased");
  EXPECT_EQ(store.findings(), "");
}

TEST_F(VerifyLogTest, AMissingChainIsFound) {
  store.erase_raw(encode_key(chain_key{alice.repo}));
  expect("tables", "the chain lacks this stream");
  expect("tables", "it has record heads that no chain counts");
}

TEST_F(VerifyLogTest, AChainNobodyWroteIsFound) {
  store.put_raw(encode_key(chain_key{test_account{'z'}.repo}),
                store.get_raw(encode_key(chain_key{alice.repo})));
  expect("tables", "the chain has a stream without operations");
  expect("tables", "it has a chain with records, but no row");
}

} // namespace
} // namespace weir::storage

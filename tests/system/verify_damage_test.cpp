#include "storage/format/content_block.hpp"
#include "storage/format/values.hpp"
#include "tests/system/verify_store.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>

// Each damage is found by the real program on a real data directory. Every
// single kind of finding is tested in tests/unit/storage. architecture.md I2,
// I3, I6, and that tables agree.

namespace weir::tests {

namespace {

using testing::HasSubstr;
using namespace storage;

/// A repo that is not in the store.
const auto unknown_did
  = atproto::did::parse("did:plc:zzzzzzzzzzzzzzzzzzzzzzzz");

/// With one partition, because the tests take rows by their place in the one
/// store.
class VerifyDamageTest : public verify_store {
protected:
  VerifyDamageTest() : verify_store({"--partitions", "1"}) {
    // nop
  }

  using damage = std::function<void(damaged_copy&)>;

  /// Damages a copy. The program must report it and end with 1.
  void expect(const std::string& words, const damage& plant) {
    damaged_copy copy{data};
    plant(copy);
    const auto x = verify(copy.close());
    EXPECT_EQ(x.status, 1) << words << "\n" << x.errors;
    EXPECT_THAT(x.findings, HasSubstr(words));
    EXPECT_THAT(x.errors, HasSubstr("restore a backup"));
  }

  /// Changes a log block and gives it a correct checksum.
  template <class Change>
  static void change_block(damaged_copy& x, const log_block_key& key,
                           Change edit) {
    const auto raw = encode_key(key);
    auto block = decode_log_block(x.get(raw)).value();
    edit(block);
    x.put(raw, encode_log_block(block).value());
  }

  template <class Change>
  static void change_chain(damaged_copy& x, Change edit) {
    const auto raw = encode_key(x.row_at<chain_key>(0));
    auto chain = decode_chain(x.get(raw), x.names()).value().chain;
    edit(chain);
    x.put(raw, encode_chain(chain, x.names()).value());
  }

  static void flip(damaged_copy& x, const std::string& key) {
    auto value = x.get(key);
    auto& byte = value[value.size() / 2];
    byte = static_cast<char>(byte ^ 4);
    x.put(key, value);
  }
};

/// Changes bytes, with correct checksums, in the first block of several
/// records.
void forge_records(damaged_copy& x) {
  auto rows = x.db().scan(range_of<content_block_key>());
  size_t count = 0;
  for (; rows.valid(); rows.next()) {
    count = content_block_reader::open(rows.value()).value().count();
    if (count > 1)
      break;
  }
  content_block_writer other;
  while (count-- > 0)
    other.add(as_bytes("forged"));
  x.put(std::string{rows.key()}, other.take());
}

const auto forged = atproto::cid::of_dag_cbor(as_bytes("forged"));

} // namespace

TEST_F(VerifyDamageTest, ACopyWithoutDamageIsGood) {
  damaged_copy copy{data};
  const auto x = verify(copy.close());
  EXPECT_EQ(x.status, 0) << x.findings << x.errors;
  EXPECT_EQ(x.errors, "");
  EXPECT_EQ(x.count("repos"), net.life().truth().accounts());
  EXPECT_GT(x.count("roots rebuilt"), 0u);
  EXPECT_GT(x.count("operations"), 1'000u);
  EXPECT_EQ(x.count("consumers"), 1u);
}

TEST_F(VerifyDamageTest, DamageOfTheLogIsNamed) {
  expect("on are missing before it", [](damaged_copy& x) {
    x.erase(encode_key(x.row_at<log_block_key>(5)));
  });
  expect("I3 operation", [](damaged_copy& x) {
    flip(x, encode_key(x.row_at<log_block_key>(5)));
  });
  expect("it does not carry the hash of the block before it",
         [](damaged_copy& x) {
           change_block(x, x.row_at<log_block_key>(5), [](auto& block) {
             block.time_us += 1'000;
           });
         });
  expect("I3 did:plc:",
         [](damaged_copy& x) { // Only its stream's hash follows.
           change_block(x, x.last_row<log_block_key>(), [](auto& block) {
             block.time_us += 1'000;
           });
         });
  expect("the time index does not name it", [](damaged_copy& x) {
    x.change<counter>(x.row_at<time_index_key>(0), [](auto& first) {
      ++first.value;
    });
  });
}

TEST_F(VerifyDamageTest, DamageOfContentIsNamed) {
  expect("its content is missing", [](damaged_copy& x) {
    x.erase(encode_key(x.row_at<content_block_key>(3)));
  });
  expect("tables operation", [](damaged_copy& x) {
    flip(x, encode_key(x.row_at<content_block_key>(3)));
  });
  expect("its content does not hash to its CID", [](damaged_copy& x) {
    forge_records(x);
  });
  expect("content is stored that no operation names", [](damaged_copy& x) {
    content_block_writer stray;
    stray.add(as_bytes("stray"));
    x.put(encode_key(content_block_key{0, 1'000'000}), stray.take());
  });
}

TEST_F(VerifyDamageTest, DamageOfStreamsAndChainsIsNamed) {
  expect("its row says", [](damaged_copy& x) {
    x.change<stream_run>(x.row_at<stream_block_key>(4), [](auto& run) {
      ++run.count;
    });
  });
  expect("I2 did:plc:", [](damaged_copy& x) {
    change_chain(x, [](auto& chain) {
      chain.data = forged;
    });
  });
  expect("the chain has another hash than the stream", [](damaged_copy& x) {
    change_chain(x, [](auto& chain) {
      chain.streams.front().hash[0] ^= 1;
    });
  });
  expect("the chain lacks this stream", [](damaged_copy& x) {
    x.erase(encode_key(x.row_at<chain_key>(0)));
  });
}

TEST_F(VerifyDamageTest, DamageOfRecordHeadsIsNamed) {
  expect("its record head is missing", [](damaged_copy& x) {
    x.erase(encode_key(x.row_at<record_head_key>(7)));
  });
  expect("I2 did:plc:", [](damaged_copy& x) {
    x.erase(encode_key(x.row_at<record_head_key>(7)));
  });
  expect("its record head is not what operation", [](damaged_copy& x) {
    x.change<record_head>(x.row_at<record_head_key>(7), [](auto& head) {
      head.id = forged;
    });
  });
  expect("its record head has no operation", [](damaged_copy& x) {
    auto key = x.row_at<record_head_key>(7);
    const auto value = x.get(encode_key(key));
    key.rkey.text = "invented";
    x.put(encode_key(key), value);
  });
}

TEST_F(VerifyDamageTest, DamageOfContentReferencesIsNamed) {
  expect("its content reference is missing", [](damaged_copy& x) {
    x.change<record_head>(x.row_at<record_head_key>(7), [](auto& head) {
      head.referenced = true;
    });
  });
  expect("I6 operation 3 a content reference stands that no record wants",
         [](damaged_copy& x) {
           x.put(encode_key(content_reference_key{short_hash_of(forged), 0, 3}),
                 encode_value(counter{3}));
         });
}

TEST_F(VerifyDamageTest, DamageOfRepoRowsIsNamed) {
  expect("the status index lacks it", [](damaged_copy& x) {
    x.erase(encode_key(x.row_at<repo_by_status_key>(0)));
  });
  expect("it has a chain with records, but no row", [](damaged_copy& x) {
    x.erase(encode_key(x.row_at<repo_key>(0)));
  });
  expect("row and chain differ in what is erased", [](damaged_copy& x) {
    x.change<repo_row>(x.row_at<repo_key>(0), [](auto& row) {
      row.erased_through = 2;
    });
  });
  expect("it is a member of a dataset without a row", [](damaged_copy& x) {
    x.put(encode_key(member_key{default_dataset, *unknown_did}),
          encode_value(member_row{}));
  });
  expect("it has waiting commits without a row", [](damaged_copy& x) {
    x.put(encode_key(sync_buffer_key{*unknown_did, 1}),
          encode_value(waiting_row{}));
  });
  expect(
    "what is being erased is not what its chain says", [](damaged_copy& x) {
      x.put(encode_key(erasure_key{*unknown_did}), encode_value(erasure_row{}));
    });
  expect("the repo is not listed as holding the collection",
         [](damaged_copy& x) {
           x.erase(encode_key(x.row_at<collection_member_key>(0)));
         });
}

TEST_F(VerifyDamageTest, DamageOfNamesConsumersAndUpstreamsIsNamed) {
  expect("its id belongs to another name", [](damaged_copy& x) {
    x.change<counter>(x.row_at<collection_id_key>(0), [](auto& id) {
      ++id.value;
    });
  });
  expect("its position lies after the end of the log", [](damaged_copy& x) {
    x.change<consumer_row>(x.row_at<consumer_key>(0), [](auto& row) {
      row.positions[0] = 1'000'000;
    });
  });
  expect("its position belongs to another log", [](damaged_copy& x) {
    x.change<consumer_row>(x.row_at<consumer_key>(0), [](auto& row) {
      ++row.log_identity;
    });
  });
  expect("overlaps what is acked before it, or is empty", [](damaged_copy& x) {
    x.change<counter>(x.row_at<acked_key>(0), [](auto& last) {
      last.value = 0;
    });
  });
  expect("it has acked ranges but no row", [](damaged_copy& x) {
    x.erase(encode_key(x.row_at<consumer_key>(0)));
  });
  expect("a dead letter lies after the end of the log", [](damaged_copy& x) {
    x.put(encode_key(dead_letter_key{default_dataset, "channel", 0, 1'000'000}),
          encode_value(dead_letter_row{}));
  });
  expect("its row is another one's", [](damaged_copy& x) {
    x.change<upstream_row>(x.row_at<upstream_key>(0), [](auto& row) {
      ++row.id;
    });
  });
}

namespace {

/// A file with this extension; a copy that was opened once has tables.
std::filesystem::path file_of(const std::string& data_dir,
                              const std::string& extension) {
  std::filesystem::path out;
  for (const auto& x : std::filesystem::directory_iterator{data_dir})
    if (x.path().extension() == extension
        && (out.empty() || file_size(x.path()) > file_size(out)))
      out = x.path();
  return out;
}

void flip_byte(const std::filesystem::path& file, uintmax_t at) {
  std::fstream io{file, std::ios::in | std::ios::out | std::ios::binary};
  io.seekg(static_cast<std::streamoff>(at));
  const auto byte = static_cast<char>(io.get() ^ 4);
  io.seekp(static_cast<std::streamoff>(at));
  io.put(byte);
}

} // namespace

// storage-format.md 1.1: damage is detected at open or at read, and never
// served.
TEST_F(VerifyDamageTest, DamageOfLevelDbsFilesIsNeverCalledGood) {
  const auto expect_bad = [&](const std::string& words,
                              const std::function<void(std::string)>& plant) {
    damaged_copy copy{data};
    const auto where = copy.close();
    plant(where);
    const auto x = verify(where);
    EXPECT_NE(x.status, 0) << words;
    EXPECT_THAT(x.findings + x.errors, HasSubstr(words));
  };
  expect_bad("Corruption", [](const std::string& where) {
    const auto table = file_of(where, ".ldb");
    flip_byte(table, file_size(table) / 2);
  });
  expect_bad("missing", [](const std::string& where) {
    remove(file_of(where, ".ldb"));
  });
  expect_bad(".log is gone", [](const std::string& where) {
    remove(file_of(where, ".log"));
  });
  expect_bad("CURRENT", [](const std::string& where) {
    std::filesystem::remove(where + "/CURRENT");
  });
}

} // namespace weir::tests

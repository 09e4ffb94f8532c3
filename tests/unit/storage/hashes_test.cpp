#include "atproto/sha256.hpp"
#include "storage/format/hashes.hpp"
#include "storage/format/values.hpp"
#include "tests/unit/storage/codec_checks.hpp"
#include "tests/unit/storage/sample_rows.hpp"

#include <gtest/gtest.h>

namespace weir::storage {

namespace {

const atproto::tid rev = *atproto::tid::parse("3jzfcijpj2z2a");

operation_identity a_create() {
  return {"did:plc:ewvi7nxzyoun6zhxrhs64oiz",
          rev,
          "app.test.note",
          "self",
          atproto::op_action::create,
          &tests::sample_cid};
}

stream_step a_step() {
  return {"did:plc:ewvi7nxzyoun6zhxrhs64oiz",
          "app.test.note",
          main_branch,
          7,
          0,
          tests::digest_of_byte(1),
          tests::digest_of_byte(2),
          1'700'000'000'000,
          atproto::op_action::create,
          "self",
          &tests::sample_cid};
}

std::string hex(const atproto::digest& x) {
  return tests::to_hex(as_text(x));
}

} // namespace

// OPLOG-06, OPLOG-24. The expected digests were computed by another program
// from docs/storage-format.md.
TEST(HashesTest, AnOperationHasTheIdentityOfTheFormat) {
  log_hasher hasher;
  EXPECT_EQ(hex(hasher.operation(a_create())),
            "8e509dc9003c820ac4391e4c7516b87c419b2fcb377595e58a43b622d3b2f068");
  auto gone = a_create();
  gone.action = atproto::op_action::remove;
  gone.id = nullptr;
  gone.origin = 0x0102030405060708;
  EXPECT_EQ(hex(hasher.operation(gone)),
            "0357cd09faee7971127eacaa8a173243c0278019da0029d6d9fa487b9911e7eb");
}

// OPLOG-24: a multihash begins with the code of SHA-256 and its length.
TEST(HashesTest, AnOpIdIsTheDigestAsAMultihash) {
  log_hasher hasher;
  EXPECT_EQ(op_id_text(hasher.operation(a_create())),
            "12208e509dc9003c820ac4391e4c7516b87c419b2fcb377595e58a43b622d3b2"
            "f068");
}

TEST(HashesTest, EveryPartCountsForTheIdentity) {
  log_hasher hasher;
  const auto sound = hasher.operation(a_create());
  const auto differs = [&](auto change) {
    auto x = a_create();
    change(x);
    return hasher.operation(x) != sound;
  };
  EXPECT_TRUE(differs([](auto& x) {
    x.did = "did:web:example.com";
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.rev = atproto::tid{1};
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.rev = {};
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.scope = "app.test.like";
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.rkey = "other";
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.action = atproto::op_action::update;
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.id = nullptr;
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.origin = 0;
  }));
  EXPECT_EQ(hasher.operation(a_create()), sound);
}

TEST(HashesTest, OriginTellsApartWhatACommitDoesNot) {
  EXPECT_EQ(origin_of("app.test.note", provenance::live, 5, 7), std::nullopt);
  // The same commit, applied later, is the same operation.
  EXPECT_EQ(origin_of("app.test.note", provenance::buffer, 5, 7), std::nullopt);
  EXPECT_EQ(origin_of("app.test.note", provenance::resync, 5, 7), 5u);
  EXPECT_EQ(origin_of("$commit", provenance::live, 5, 7), std::nullopt);
  EXPECT_EQ(origin_of("$commit", provenance::resync, 5, 7), 5u);
  EXPECT_EQ(origin_of("$identity", provenance::live, 5, 7), 7u);
  EXPECT_EQ(origin_of("$account", provenance::resync, 5, 7), 7u);
}

TEST(HashesTest, AStreamHashIsTheOneOfTheFormat) {
  log_hasher hasher;
  EXPECT_EQ(hex(hasher.stream(a_step())),
            "f5df3b792fafc841c9299f5cc896ec6b868cf0d52693e9eb57211001fd4af887");
}

TEST(HashesTest, EveryPartCountsForTheStream) {
  log_hasher hasher;
  const auto sound = hasher.stream(a_step());
  const auto differs = [&](auto change) {
    auto x = a_step();
    change(x);
    return hasher.stream(x) != sound;
  };
  EXPECT_TRUE(differs([](auto& x) {
    x.did = "did:web:example.com";
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.scope = "app.test.like";
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.branch = denied_branch;
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.index = 8;
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.skip = 1;
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.operation = {};
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.previous = {};
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.timestamp_ms = 1;
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.action = atproto::op_action::update;
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.rkey = "other";
  }));
  EXPECT_TRUE(differs([](auto& x) {
    x.id = nullptr;
  }));
}

TEST(HashesTest, BranchesHaveNames) {
  EXPECT_EQ(branch_name(main_branch), "main");
  EXPECT_EQ(branch_name(denied_branch), "denied");
  EXPECT_EQ(branch_name(first_fork_branch), "fork/0");
  EXPECT_EQ(branch_name(first_fork_branch + 12), "fork/12");
}

TEST(HashesTest, ABlockIsBoundToItsPlace) {
  std::string covered{"\0\3\0\0\0\0\0\0\1\2value", 15};
  EXPECT_EQ(block_hash(3, 258, "value"), atproto::sha256(as_bytes(covered)));
  EXPECT_NE(block_hash(3, 258, "value"), block_hash(3, 259, "value"));
  EXPECT_NE(block_hash(3, 258, "value"), block_hash(4, 258, "value"));
}

} // namespace weir::storage

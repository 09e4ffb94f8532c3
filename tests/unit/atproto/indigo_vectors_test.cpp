#include "atproto/car.hpp"
#include "atproto/commit.hpp"
#include "atproto/did_document.hpp"
#include "atproto/mst.hpp"
#include "atproto/record_json.hpp"
#include "atproto/repo_walk.hpp"
#include "atproto/verify.hpp"
#include "json_to_cbor.hpp"
#include "json_vectors.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>

// Proves protocol-coverage.md 2, 3 and 5 on commits and repos of the reference
// implementation in Go, most of them from before sync 1.1. The tests of its
// relay are in tests/unit/actors/relay_scenarios_test.cpp.

namespace weir::tests {

using namespace atproto;

namespace json = boost::json;

namespace {

/// Walks the tree of a CAR under a new version 3 commit, which is signed here.
uint64_t walk_under_new_commit(const car_slice& car, const cid& data) {
  const auto random = seeded_random(1);
  const auto key = private_key::generate(curve::k256, *random);
  const auto owner = did::parse("did:plc:wqgdnqlv2mwiio6pfchwtrff").value();
  const auto commit
    = encode_signed_commit({owner, tid::from_time({1}, 0), data, {}, {}}, key);
  const auto root = cid::of_dag_cbor(commit);
  car_writer out{std::span{&root, 1}};
  out.add(root, commit);
  for (const auto& x : car.blocks())
    out.add(x.id, x.data);
  const auto store = make_memory_spool(10'000'000);
  const auto overflow = make_memory_spool(0);
  repo_walk walk{owner, *store, *overflow};
  EXPECT_TRUE(walk.feed(out.take()));
  EXPECT_TRUE(walk.finish(key.public_part(), after_all_vectors));
  uint64_t records = 0;
  const auto done = walk.step(100'000, [&](const walked_record& x) {
    EXPECT_FALSE(x.undecodable) << x.path;
    ++records;
  });
  EXPECT_TRUE(done && *done) << to_string(done.error());
  return records;
}

/// `data` of a commit of any version.
cid find_data(bytes_view commit) {
  cbor::reader in{commit};
  const auto size = in.read_map().value();
  for (size_t i = 0; i < size; ++i) {
    if (in.read_text().value() == "data")
      return in.read_link().value();
    in.skip().value();
  }
  return {};
}

} // namespace

// protocol-coverage.md 2.t11
TEST(IndigoVectorsTest, CommitsBeforeSync11HoldWhatTheirOpsSay) {
  WEIR_VECTORS(folder, "vectors/indigo/atproto/repo/testdata");
  const json::value header{{"op", 1}, {"t", "#commit"}};
  size_t ops = 0;
  for (const auto* number :
       {"4621317030", "4621317332", "4621332152", "4623075231"}) {
    const auto body = read_json(
      folder / ("firehose_commit_" + std::string{number} + ".json"));
    const auto frame = json_frame(header, body);
    const auto event = decode_frame(frame.view());
    ASSERT_TRUE(event) << number << ": " << to_string(event.error());
    const auto& commit = std::get<commit_event>(*event);
    const auto car = car_slice::parse(commit.blocks).value();
    EXPECT_TRUE(car.check_hashes());
    EXPECT_EQ(car.roots().front(), commit.commit);
    const auto* block = car.find(commit.commit);
    ASSERT_NE(block, nullptr);
    const auto object = decode_commit(block->data);
    ASSERT_TRUE(object) << to_string(object.error());
    auto tree = mst::tree::load(object->data, [&](const cid& id) {
                  const auto* node = car.find(id);
                  return node == nullptr ? nullptr : &node->data;
                }).value();
    for (const auto& op : commit.ops) {
      EXPECT_EQ(tree.put(op.path, op.id).value(), op.id) << op.path;
      EXPECT_NE(car.find(op.id), nullptr);
      ++ops;
    }
  }
  EXPECT_EQ(ops, 45u);
}

// protocol-coverage.md 2.3.1
TEST(IndigoVectorsTest, OldRepositoriesWalkAndOldCommitsAreRefused) {
  WEIR_VECTORS(folder, "vectors/indigo/testing/testdata");
  const std::map<std::string, uint64_t> records{
    {"divy.repo", 6},
    {"fakermaker.repo.car", 142},
    {"paul_staging.repo.car", 185},
  };
  for (const auto& [name, count] : records) {
    const auto file = read_file(folder / name);
    const auto car = car_slice::parse(as_bytes(file));
    ASSERT_TRUE(car) << name << to_string(car.error());
    ASSERT_TRUE(car->check_hashes()) << name;
    const auto* commit = car->find(car->roots().front());
    ASSERT_NE(commit, nullptr) << name;
    const auto object = decode_commit(commit->data);
    ASSERT_FALSE(object) << name;
    EXPECT_EQ(object.error().code, ec::malformed) << name;
    EXPECT_EQ(walk_under_new_commit(*car, find_data(commit->data)), count)
      << name;
  }
}

TEST(IndigoVectorsTest, SlicesOfOldRepositoriesAreReadAndTheirCommitsRefused) {
  WEIR_VECTORS(folder, "vectors/indigo/testing/testdata");
  const std::map<std::string, size_t> blocks{
    {"bafyreieovfuizojpw3zresz7sx3nk4trm2by23pt5rxbey3jme4uo5ogiu.car", 10},
    {"repo_slice.car", 5},
  };
  for (const auto& [name, count] : blocks) {
    const auto file = read_file(folder / name);
    const auto car = car_slice::parse(as_bytes(file));
    ASSERT_TRUE(car) << name << to_string(car.error());
    EXPECT_TRUE(car->check_hashes()) << name;
    EXPECT_EQ(car->blocks().size(), count) << name;
    const auto* commit = car->find(car->roots().front());
    ASSERT_NE(commit, nullptr) << name;
    EXPECT_FALSE(decode_commit(commit->data)) << name;
    for (const auto& x : car->blocks())
      EXPECT_TRUE(cbor::validate(x.data)) << name;
  }
}

TEST(IndigoVectorsTest, TheRecordBesideASliceIsItsBlock) {
  WEIR_VECTORS(folder, "vectors/indigo/testing/testdata");
  const auto file = read_file(folder / "repo_slice.car");
  const auto car = car_slice::parse(as_bytes(file)).value();
  const auto record = read_json(folder / "repo_slice_record.json");
  const auto* block = car.find(cid::from_text(text(record.at("cid"))).value());
  ASSERT_NE(block, nullptr);
  std::string made;
  ASSERT_TRUE(append_record_json(block->data, made));
  EXPECT_EQ(json::parse(made), record.at("value"));
}

// The files in three places are equal; the tests read the first.
TEST(IndigoVectorsTest, CopiesOfTheAgreedFilesAreEqual) {
  WEIR_VECTORS(folder, "vectors");
  const auto agreed = folder / "atproto-interop-tests";
  const auto ours = folder / "indigo/atproto/repo";
  EXPECT_EQ(read_file(ours / "mst/testdata/example_keys.txt"),
            read_file(agreed / "mst/example_keys.txt"));
  const auto proofs = read_file(agreed / "firehose/commit-proof-fixtures.json");
  EXPECT_EQ(read_file(ours / "testdata/commit-proof-fixtures.json"), proofs);
  EXPECT_EQ(
    read_file(folder
              / "atproto/packages/repo/tests/commit-proof-fixtures.json"),
    proofs);
}

TEST(IndigoVectorsTest, ARepositoryIsRefusedForAnotherAccount) {
  WEIR_VECTORS(folder, "vectors/indigo/testing/testdata");
  // The file is named after one account and contains the repo of another.
  const auto asked = did::parse("did:plc:wqgdnqlv2mwiio6pfchwtrff").value();
  const auto document
    = parse_did_document(read_file(folder / "greenground.didDoc.json"), asked)
        .value();
  const auto key = public_key::from_multikey(document.signing_key).value();
  const auto file = read_file(folder / "greenground.repo.car");
  const auto store = make_memory_spool(1'000'000);
  const auto overflow = make_memory_spool(0);
  repo_walk walk{asked, *store, *overflow};
  ASSERT_TRUE(walk.feed(as_bytes(file)));
  const auto root = walk.finish(key, after_all_vectors);
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().why, verdict::bad_shape);

  const auto car = car_slice::parse(as_bytes(file)).value();
  const auto commit = decode_commit(car.find(car.roots().front())->data);
  ASSERT_TRUE(commit) << to_string(commit.error());
  EXPECT_NE(commit->repo, asked);
  EXPECT_EQ(walk_under_new_commit(car, commit->data), 2u);
}

} // namespace weir::tests

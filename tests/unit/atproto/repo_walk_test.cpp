#include "atproto/car.hpp"
#include "atproto/limits.hpp"
#include "atproto/repo_walk.hpp"
#include "base/random.hpp"
#include "tests/support/repo_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// Proves protocol-coverage.md 5 for repos that are valid, cut, in another order
// or large, and the walk's limits of hostile-inputs.md 2.1.17, 2.1.18.

namespace weir::tests {

using namespace atproto;

namespace {
using record_list = std::vector<std::pair<std::string, cid>>;

/// The result of a walk over a CAR.
struct walked {
  std::string fault; ///< Empty when the walk ended well.
  ec code = ec::none;
  record_list records;
  size_t undecodable = 0;
  uint64_t skipped = 0;
};

struct walk_options {
  walk_limits bounds;
  size_t chunk_bytes = 65'536;
  size_t step_records = 100;
};

/// Feeds a CAR as the repo of `repo`, ends it, and takes all steps.
walked walk(const test_repo& repo, bytes_view car,
            const walk_options& options = {}) {
  const auto store = make_memory_spool(1'000'000'000);
  const auto overflow = make_memory_spool(1'000'000'000);
  repo_walk in{repo.did(), *store, *overflow, options.bounds};
  walked out;
  const auto failed = [&](const error& what) {
    out.fault = to_string(what);
    out.code = what.code;
    return out;
  };
  for (size_t at = 0; at < car.size(); at += options.chunk_bytes) {
    const auto size = std::min(options.chunk_bytes, car.size() - at);
    if (const auto fed = in.feed(car.subspan(at, size)); !fed)
      return failed(fed.error());
  }
  const auto root = in.finish(repo.key().public_part(), repo.now());
  if (!root) {
    out.fault = to_string(root.error().why);
    out.fault += ": " + root.error().reason;
    return out;
  }
  for (;;) {
    size_t visited = 0;
    const auto done = in.step(options.step_records, [&](const auto& x) {
      ++visited;
      EXPECT_EQ(x.block.empty(), x.undecodable);
      EXPECT_TRUE(x.undecodable || cid::of_dag_cbor(x.block) == x.id);
      out.undecodable += x.undecodable ? 1 : 0;
      out.records.emplace_back(x.path, x.id);
    });
    EXPECT_LE(visited, options.step_records);
    if (!done)
      return failed(done.error());
    if (*done)
      break;
  }
  EXPECT_EQ(in.bytes_fed(), car.size());
  out.skipped = in.skipped();
  return out;
}

record_list expected(const test_repo& x) {
  return {x.records().begin(), x.records().end()};
}

test_repo make_repo(size_t records, uint64_t seed = 1) {
  test_repo out{seed};
  for (size_t i = 0; i < records; ++i)
    out.put("app.test.note/" + std::to_string(i),
            make_record(std::to_string(i)));
  out.draft();
  return out;
}

/// The parts of an export: the commit block first.
std::vector<named_block> parts_of(const test_repo& x) {
  const auto commit = x.commit_block();
  std::vector<named_block> out{{cid::of_dag_cbor(commit), commit}};
  for (auto& block : x.blocks())
    out.push_back(std::move(block));
  return out;
}

} // namespace

// protocol-coverage.md 5.5
TEST(RepoWalkTest, VisitsEveryRecordInOrder) {
  for (const size_t size : {0, 1, 2, 10, 500}) {
    const auto repo = make_repo(size);
    const auto out = walk(repo, repo.export_car());
    EXPECT_EQ(out.fault, "");
    EXPECT_EQ(out.records, expected(repo));
  }
}

TEST(RepoWalkTest, DoesNotCareHowTheBytesAreCutAndTheStepsAreSized) {
  const auto repo = make_repo(60);
  const auto car = repo.export_car();
  for (const size_t chunk : {1, 7, 100, 4096})
    for (const size_t step : {1, 3, 1000}) {
      const auto out = walk(repo, car, {{}, chunk, step});
      EXPECT_EQ(out.fault, "");
      EXPECT_EQ(out.records, expected(repo));
    }
}

// protocol-coverage.md 5.1
TEST(RepoWalkTest, DoesNotCareAboutTheOrderOfTheBlocks) {
  const auto repo = make_repo(100);
  auto parts = parts_of(repo);
  const auto root = parts.front().first;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto random = seeded_random(seed);
    for (size_t i = parts.size() - 1; i > 0; --i)
      std::swap(parts[i], parts[random->below(i + 1)]);
    const auto out = walk(repo, make_car(root, parts));
    EXPECT_EQ(out.fault, "");
    EXPECT_EQ(out.records, expected(repo));
  }
}

// protocol-coverage.md 5.4
TEST(RepoWalkTest, IgnoresUnlinkedAndRepeatedBlocks) {
  const auto repo = make_repo(20);
  auto parts = parts_of(repo);
  const auto root = parts.front().first;
  const auto half = parts;
  parts.insert(parts.end(), half.begin(), half.end());
  for (int i = 0; i < 50; ++i) {
    const auto extra = make_record("extra " + std::to_string(i));
    parts.emplace_back(cid::of_dag_cbor(extra), extra);
  }
  EXPECT_EQ(walk(repo, make_car(root, parts)).records, expected(repo));
}

// protocol-coverage.md 5.4
TEST(RepoWalkTest, NeedsEveryBlockOfTheTree) {
  const auto repo = make_repo(30);
  const auto parts = parts_of(repo);
  for (size_t i = 0; i < parts.size(); ++i) {
    auto some = parts;
    some.erase(some.begin() + static_cast<ptrdiff_t>(i));
    const auto out = walk(repo, make_car(parts.front().first, some));
    EXPECT_NE(out.fault, "") << i;
    EXPECT_EQ(out.code, i == 0 ? ec::none : ec::verification_failed)
      << out.fault;
  }
  const auto empty = make_repo(0);
  EXPECT_NE(
    walk(empty, make_car(parts_of(empty)[0].first, {parts_of(empty)[0]})).fault,
    "");
}

// protocol-coverage.md 5.1
TEST(RepoWalkTest, RefusesABodyThatWasCut) {
  const auto repo = make_repo(10);
  const auto car = repo.export_car();
  for (size_t size = 0; size < car.size(); ++size)
    EXPECT_NE(walk(repo, bytes_view{car}.first(size)).fault, "") << size;
}

TEST(RepoWalkTest, NoChangedByteChangesWhatIsAccepted) {
  const auto repo = make_repo(8);
  const auto car = repo.export_car();
  size_t accepted = 0;
  for (size_t i = 0; i < car.size(); ++i) {
    auto changed = car;
    changed[i] ^= static_cast<uint8_t>(1 << (i % 8));
    const auto out = walk(repo, changed);
    if (!out.fault.empty())
      continue;
    ++accepted;
    EXPECT_EQ(out.records, expected(repo));
  }
  EXPECT_EQ(accepted, 0u) << "all blocks of this CAR are needed";
}

// protocol-coverage.md 5.2
TEST(RepoWalkTest, ChecksTheRootCommit) {
  const auto repo = make_repo(5);
  const auto car = repo.export_car();
  const auto fault
    = [&](const test_repo& asked, const test_repo& signer, wall_time now) {
        const auto store = make_memory_spool(1'000'000);
        const auto overflow = make_memory_spool(0);
        repo_walk in{asked.did(), *store, *overflow};
        EXPECT_TRUE(in.feed(car));
        const auto root = in.finish(signer.key().public_part(), now);
        return root ? "fine" : to_string(root.error().why);
      };
  const test_repo other{99};
  EXPECT_STREQ(fault(repo, repo, repo.now()), "fine");
  EXPECT_STREQ(fault(other, repo, repo.now()), "bad_shape");
  EXPECT_STREQ(fault(repo, other, repo.now()), "bad_signature");
  EXPECT_STREQ(fault(repo, repo, repo.now() + -std::chrono::minutes{6}),
               "future_rev");
}

// protocol-coverage.md 5.2
TEST(RepoWalkTest, MayBeFinishedAgainWithANewerKey) {
  const auto repo = make_repo(5);
  const auto store = make_memory_spool(1'000'000);
  const auto overflow = make_memory_spool(0);
  repo_walk in{repo.did(), *store, *overflow};
  ASSERT_TRUE(in.feed(repo.export_car()));
  const auto nothing = [](const walked_record&) {
    FAIL() << "not verified";
  };
  EXPECT_EQ(in.step(10, nothing).error().code, ec::invalid_argument);
  ASSERT_FALSE(in.finish(test_repo{99}.key().public_part(), repo.now()));
  EXPECT_EQ(in.step(10, nothing).error().code, ec::invalid_argument);
  ASSERT_TRUE(in.finish(repo.key().public_part(), repo.now()));
  EXPECT_TRUE(in.step(10, [](const walked_record&) {}).value());
}

// protocol-coverage.md 5.4
TEST(RepoWalkTest, ReadsARecordUsedByTwoPaths) {
  test_repo repo;
  repo.put("app.test.note/1", make_record("same"));
  repo.put("app.test.note/2", make_record("same"));
  repo.put("app.test.other/3", make_record("same"));
  repo.draft();
  const auto out = walk(repo, repo.export_car());
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.records, expected(repo));
}

TEST(RepoWalkTest, KeepsRecordsThatAreNone) {
  test_repo repo;
  auto foreign = bytes{0x01, 0x71, 0x1b, 0x20};
  foreign.resize(36, 5);
  repo.put("app.test.note/float",
           bytes{0xa1, 0x61, 'a', 0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0});
  repo.put("app.test.note/foreign", cid::from_bytes(foreign).value());
  repo.put("app.test.note/good", make_record("good"));
  repo.put("app.test.note/list", bytes{0x80});
  repo.put("app.test.note/large",
           make_record(std::string(limits::record_bytes_max, 'x')));
  const auto record = make_record("raw");
  repo.put("app.test.note/raw", cid::of_raw(record));
  repo.draft();
  auto parts = parts_of(repo);
  EXPECT_NE(walk(repo, make_car(parts.front().first, parts)).fault, "")
    << "a block that could be checked must be there";
  parts.emplace_back(cid::of_raw(record), record);
  const auto out = walk(repo, make_car(parts.front().first, parts));
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.records, expected(repo));
  EXPECT_EQ(out.undecodable, 5u);
}

// protocol-coverage.md 5.1.3
TEST(RepoWalkTest, PassesOverKeysThatAreNoPaths) {
  std::vector<mst::leaf> leaves;
  std::vector<named_block> parts;
  const auto record = make_record("x");
  const auto id = cid::of_dag_cbor(record);
  parts.emplace_back(id, record);
  for (const auto key : {"app.test.note/1", "app.test.note/2/3", "nonsense"})
    leaves.push_back({key, id});
  const test_repo repo;
  commit_object commit{repo.did(), repo.rev(), {}, {}, {}};
  commit.data = mst::root_of(leaves, [&](const cid& node, bytes_view block) {
    parts.emplace_back(node, bytes{block.begin(), block.end()});
  });
  const auto block = encode_signed_commit(commit, repo.key());
  parts.emplace_back(cid::of_dag_cbor(block), block);
  const auto out = walk(repo, make_car(parts.back().first, parts));
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.records, (record_list{{"app.test.note/1", id}}));
  EXPECT_EQ(out.skipped, 2u);
}

TEST(RepoWalkTest, MayBeRewound) {
  const auto repo = make_repo(200);
  const auto store = make_memory_spool(1'000'000);
  const auto overflow = make_memory_spool(0);
  repo_walk in{repo.did(), *store, *overflow};
  ASSERT_TRUE(in.feed(repo.export_car()));
  ASSERT_TRUE(in.finish(repo.key().public_part(), repo.now()));
  for (const size_t size : {50, 1000, 1000}) {
    record_list seen;
    const auto done = in.step(size, [&](const walked_record& x) {
      seen.emplace_back(x.path, x.id);
    });
    ASSERT_TRUE(done);
    EXPECT_EQ(*done, size == 1000);
    auto first = expected(repo);
    first.resize(std::min(first.size(), size));
    EXPECT_EQ(seen, first);
    in.rewind();
  }
}

TEST(RepoWalkTest, KeepsAnIndexOfAnySizeInBoundedMemory) {
  const auto repo = make_repo(2000);
  auto parts = parts_of(repo);
  const auto random = seeded_random(1);
  for (size_t i = parts.size() - 1; i > 0; --i)
    std::swap(parts[i], parts[random->below(i + 1)]);
  const auto car = make_car(cid::of_dag_cbor(repo.commit_block()), parts);
  for (const size_t entries_max : {0, 500, 5000}) {
    walk_options options;
    options.bounds.index_entries_max = entries_max;
    options.bounds.index_run_entries = 200;
    const auto out = walk(repo, car, options);
    EXPECT_EQ(out.fault, "") << entries_max;
    EXPECT_EQ(out.records, expected(repo)) << entries_max;
  }
}

// protocol-coverage.md 5.7
TEST(RepoWalkTest, KeepsItsLimits) {
  const auto repo = make_repo(50);
  const auto car = repo.export_car();
  const auto blocks = parts_of(repo).size();
  const auto with = [&](walk_limits bounds) {
    return walk(repo, car, {bounds, 100, 10}).code;
  };
  walk_limits bounds;
  bounds.car_bytes_max = car.size();
  bounds.car_blocks_max = blocks;
  bounds.records_max = 50;
  EXPECT_EQ(with(bounds), ec::none);
  auto less = bounds;
  --less.car_bytes_max;
  EXPECT_EQ(with(less), ec::limit_reached);
  less = bounds;
  --less.car_blocks_max;
  EXPECT_EQ(with(less), ec::limit_reached);
  less = bounds;
  --less.records_max;
  EXPECT_EQ(with(less), ec::limit_reached);
}

TEST(RepoWalkTest, BoundsHowOftenARecordIsRepeated) {
  // About 40 paths of half a megabyte each: more than 16 times the export.
  const auto code = [](size_t paths) {
    test_repo repo;
    for (size_t i = 0; i < paths; ++i)
      repo.put("app.test.note/" + std::to_string(i),
               make_record(std::string(500'000, 'x')));
    repo.draft();
    return walk(repo, repo.export_car()).code;
  };
  const auto allowed = limits::record_repeat_factor_max
                       * (500'000 + limits::record_bytes_max) / 500'000;
  EXPECT_EQ(code(allowed), ec::none);
  EXPECT_EQ(code(allowed + 2), ec::limit_reached);
}

TEST(RepoWalkTest, StaysFailed) {
  const auto repo = make_repo(5);
  const auto store = make_memory_spool(10);
  const auto overflow = make_memory_spool(0);
  repo_walk in{repo.did(), *store, *overflow};
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(in.feed(repo.export_car()).error().code, ec::limit_reached);
  EXPECT_FALSE(in.finish(repo.key().public_part(), repo.now()));
  EXPECT_EQ(in.step(1, [](const walked_record&) {}).error().code,
            ec::limit_reached);
}

TEST(RepoWalkTest, ReadsRecordsInAMemorySpoolWithoutCopying) {
  const auto store = make_memory_spool(100);
  ASSERT_TRUE(store->append(bytes(100, 7)));
  const auto all = store->read(0, 100).value();
  EXPECT_EQ(store->read(40, 10).value().data(), all.data() + 40);
  EXPECT_EQ(store->append(bytes(1)).error().code, ec::limit_reached);
  EXPECT_TRUE(store->append({}));
  EXPECT_EQ(store->read(91, 10).error().code, ec::storage_failure);
  EXPECT_EQ(store->read(101, 0).error().code, ec::storage_failure);
  EXPECT_EQ(store->read(UINT64_MAX, 1).error().code, ec::storage_failure);
}

} // namespace weir::tests

#include "atproto/car.hpp"
#include "atproto/limits.hpp"
#include "atproto/verify.hpp"
#include "tests/support/repo_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// Proves protocol-coverage.md 2.1.4 (future rev), 2.2 to 2.5.

namespace weir::tests {

using namespace atproto;

namespace {

/// A repo with some history and one more change, which waits in `next`.
class VerifyTest : public testing::Test {
protected:
  VerifyTest() {
    for (int i = 0; i < 40; ++i)
      repo.put("app.test.note/" + std::to_string(i),
               make_record(std::to_string(i)));
    repo.commit();
    repo.put("app.test.note/7", make_record("changed"));
    repo.put("app.test.note/new", make_record("new"));
    repo.remove("app.test.note/9");
    next = repo.draft();
    key = repo.key().public_part();
  }

  verified<verified_commit> check(const commit_draft& x) const {
    return verify_frame(x.encode(x.sign(repo.key())), key, repo.now());
  }

  /// Verifies a draft that another account signed.
  verified<verified_commit> check_forged(const commit_draft& x) const {
    const test_repo other{99};
    return verify_frame(x.encode(x.sign(other.key())), key, repo.now());
  }

  /// Expects the verdict on a signed draft. The same draft with a forged
  /// signature fails at the signature, unless its form is wrong.
  void expect(const commit_draft& x, verdict why) const {
    const auto done = check(x);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().why, why) << done.error().reason;
    const auto forged = check_forged(x);
    ASSERT_FALSE(forged);
    EXPECT_EQ(forged.error().why,
              why == verdict::bad_shape ? why : verdict::bad_signature);
  }

  test_repo repo;
  commit_draft next;
  public_key key;
};

} // namespace

// protocol-coverage.md 2.3.4
TEST_F(VerifyTest, TellsWhatAGoodCommitChanged) {
  const auto frame = shared_bytes::copy_of(next.encode(next.sign(repo.key())));
  const auto event = std::get<commit_event>(decode_frame(frame.view()).value());
  const auto done = verify_commit(frame, event, key, repo.now());
  ASSERT_TRUE(done) << done.error().reason;
  EXPECT_EQ(done->repo, repo.did());
  EXPECT_EQ(done->rev, repo.rev());
  EXPECT_EQ(done->since, next.since);
  EXPECT_EQ(done->commit, event.commit);
  EXPECT_EQ(done->data, repo.data());
  EXPECT_EQ(done->prev_data, next.prev_data);
  EXPECT_EQ(cid::of_dag_cbor(done->commit_block.view()), event.commit);
  ASSERT_EQ(done->ops.size(), 3u);
  const auto& [update, create, remove]
    = std::tie(done->ops[0], done->ops[1], done->ops[2]);
  EXPECT_EQ(update.action, op_action::update);
  EXPECT_EQ(update.collection, "app.test.note");
  EXPECT_EQ(update.rkey, "7");
  EXPECT_EQ(update.prev, cid::of_dag_cbor(make_record("7")));
  EXPECT_EQ(create.action, op_action::create);
  EXPECT_EQ(create.rkey, "new");
  EXPECT_FALSE(create.prev.defined());
  EXPECT_EQ(remove.action, op_action::remove);
  EXPECT_TRUE(remove.record.empty());
  EXPECT_FALSE(remove.undecodable);
  const auto record = make_record("new");
  EXPECT_TRUE(std::ranges::equal(create.record.view(), record));
  // Bodies are slices of the frame, not copies.
  for (const auto& x : {create.record, update.record, done->commit_block}) {
    EXPECT_GE(x.data(), frame.data());
    EXPECT_LE(x.data() + x.size(), frame.data() + frame.size());
  }
}

TEST_F(VerifyTest, WorksWithBothCurves) {
  for (const auto which : {curve::k256, curve::p256}) {
    test_repo other{5, which};
    other.put("app.test.note/1", make_record("1"));
    EXPECT_TRUE(
      verify_frame(other.commit(), other.key().public_part(), other.now()));
    other.put("app.test.note/2", make_record("2"));
    EXPECT_TRUE(
      verify_frame(other.commit(), other.key().public_part(), other.now()));
  }
}

// protocol-coverage.md 2.t9, 2.5.1, 11.4, 11.5
TEST_F(VerifyTest, AcceptsFirstCommitsAndEmptyCommits) {
  test_repo fresh{3};
  EXPECT_TRUE(
    verify_frame(fresh.commit(), fresh.key().public_part(), fresh.now()));
  EXPECT_TRUE(
    verify_frame(fresh.commit(), fresh.key().public_part(), fresh.now()))
    << "no ops, no change";
  test_repo full{4};
  for (int i = 0; i < 100; ++i)
    full.put("app.test.note/" + std::to_string(i), make_record("x"));
  const auto done
    = verify_frame(full.commit(), full.key().public_part(), full.now());
  ASSERT_TRUE(done) << done.error().reason;
  EXPECT_EQ(done->ops.size(), 100u);
  EXPECT_FALSE(done->prev_data.defined());
  EXPECT_FALSE(done->since);
}

// protocol-coverage.md 2.1.4, 10.11
TEST_F(VerifyTest, RefusesARevInTheFuture) {
  const auto frame = next.encode(next.sign(repo.key()));
  const auto at = [&](std::chrono::microseconds before) {
    return verify_frame(frame, key, repo.now() + -before);
  };
  EXPECT_TRUE(at(limits::rev_future_max));
  constexpr auto too_far
    = limits::rev_future_max + std::chrono::microseconds{1};
  const auto done = at(too_far);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().why, verdict::future_rev);
  EXPECT_EQ(done.error().ahead, next.object.rev);
  const auto forged = next.encode(next.sign(test_repo{99}.key()));
  EXPECT_EQ(verify_frame(forged, key, repo.now() + -too_far).error().why,
            verdict::bad_signature)
    << "strangers cannot say what time it is";
}

// protocol-coverage.md 2.1.5
// protocol-coverage.md 2.1.0
TEST_F(VerifyTest, RefusesWhatTheAccountDidNotSign) {
  const auto done = check_forged(next);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().why, verdict::bad_signature);
  EXPECT_EQ(verify_frame(next.encode(next.sign(repo.key())), {}, repo.now())
              .error()
              .why,
            verdict::bad_signature)
    << "no key";
}

// protocol-coverage.md 2.3.1
TEST_F(VerifyTest, RefusesACommitOfAnotherAccountWithTheSameKey) {
  // The DID in the event and the one in the commit must be the same.
  const test_repo other{99};
  const auto block = next.sign(repo.key());
  next.object.repo = other.did();
  const auto done = verify_frame(next.encode(block), key, repo.now());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().why, verdict::bad_shape);
}

// protocol-coverage.md 2.t4, 2.3.1
TEST_F(VerifyTest, RefusesARevThatIsNotTheCommits) {
  const auto block = next.sign(repo.key());
  next.object.rev = tid{next.object.rev.value() - 1024};
  const auto done = verify_frame(next.encode(block), key, repo.now());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().why, verdict::bad_shape);
}

// protocol-coverage.md 2.t6, 2.2.1
// protocol-coverage.md 11.11
TEST_F(VerifyTest, RefusesARootThatIsNotTheCommit) {
  const auto frame = shared_bytes::copy_of(next.encode(next.sign(repo.key())));
  auto event = std::get<commit_event>(decode_frame(frame.view()).value());
  event.commit = cid::of_dag_cbor(make_record("another"));
  const auto done = verify_commit(frame, event, key, repo.now());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().why, verdict::bad_shape);
}

// protocol-coverage.md 2.2.1: further roots may name anything
TEST_F(VerifyTest, TheFirstRootIsTheCommitAndFurtherOnesAreIgnored) {
  const auto frame = shared_bytes::copy_of(next.encode(next.sign(repo.key())));
  auto event = std::get<commit_event>(decode_frame(frame.view()).value());
  const auto slice = car_slice::parse(event.blocks).value();
  std::vector roots{event.commit, next.blocks.front().first,
                    cid::of_dag_cbor(make_record("not in the CAR"))};
  const auto check_roots = [&] {
    car_writer out{roots};
    for (const auto& x : slice.blocks())
      out.add(x.id, x.data);
    const auto car = out.take();
    event.blocks = car;
    return verify_frame(encode_frame(event), key, repo.now());
  };
  const auto done = check_roots();
  ASSERT_TRUE(done) << done.error().reason;
  EXPECT_EQ(done->commit, event.commit);
  std::swap(roots[0], roots[1]);
  const auto refused = check_roots();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().why, verdict::bad_shape);
}

// protocol-coverage.md 2.2.2
TEST_F(VerifyTest, RefusesABrokenCar) {
  const auto frame = shared_bytes::copy_of(next.encode(next.sign(repo.key())));
  auto event = std::get<commit_event>(decode_frame(frame.view()).value());
  const auto whole = event.blocks;
  for (const auto size : {size_t{1}, size_t{58}, size_t{59}, size_t{100}}) {
    event.blocks = whole.first(size);
    const auto done = verify_commit(frame, event, key, repo.now());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().why, verdict::bad_shape) << size;
  }
}

// protocol-coverage.md 2.t9, 2.t10, 2.t14, 2.2.7, 2.5.8
// protocol-coverage.md 2.0
TEST_F(VerifyTest, CallsCommitsOfOldSendersUnverifiable) {
  auto x = next;
  x.prev_data = {};
  expect(x, verdict::unverifiable);
  x = next;
  x.too_big = true;
  expect(x, verdict::unverifiable);
  x = next;
  x.ops[0].prev = {};
  expect(x, verdict::unverifiable);
  x = next;
  x.ops[2].prev = {};
  expect(x, verdict::unverifiable);
  const auto frame = shared_bytes::copy_of(next.encode(next.sign(repo.key())));
  auto event = std::get<commit_event>(decode_frame(frame.view()).value());
  event.blocks = {};
  EXPECT_EQ(verify_commit(frame, event, key, repo.now()).error().why,
            verdict::unverifiable);
}

// protocol-coverage.md 2.5.1
TEST_F(VerifyTest, CallsAFirstCommitThatIsNotTheWholeTreeUnverifiable) {
  test_repo fresh{3};
  for (int i = 0; i < 20; ++i)
    fresh.put("app.test.note/" + std::to_string(i), make_record("x"));
  const auto good = fresh.draft();
  const auto judge = [&](const commit_draft& x) {
    const auto done = verify_frame(x.encode(x.sign(fresh.key())),
                                   fresh.key().public_part(), fresh.now());
    return done ? "fine" : to_string(done.error().why);
  };
  EXPECT_STREQ(judge(good), "fine");
  auto x = good;
  x.ops.pop_back();
  EXPECT_STREQ(judge(x), "unverifiable");
  x = good;
  x.ops.push_back(x.ops[0]);
  EXPECT_STREQ(judge(x), "unverifiable");
  x = good;
  x.ops[0].path = "nonsense";
  EXPECT_STREQ(judge(x), "unverifiable");
  x = good;
  std::erase_if(x.blocks, [&](const named_block& y) {
    return y.first == fresh.data();
  });
  EXPECT_STREQ(judge(x), "unverifiable");
}

// protocol-coverage.md 2.1.5, 2.1.6, 2.4.1, 2.5.7
// protocol-coverage.md 2.1.0
TEST_F(VerifyTest, DemandsAResyncWhenASignedProofDoesNotHold) {
  auto x = next;
  x.prev_data = mst::empty_root();
  expect(x, verdict::bad_proof);
  x = next;
  x.prev_data = cid::of_raw({});
  expect(x, verdict::bad_proof);
  x = next;
  x.ops.pop_back();
  expect(x, verdict::bad_proof);
  x = next;
  x.ops[1].id = x.ops[0].id;
  expect(x, verdict::bad_proof);
  x = next;
  x.ops[1].path = "nonsense";
  expect(x, verdict::bad_proof);
  x = next;
  x.ops.push_back(x.ops[1]);
  expect(x, verdict::bad_proof);
}

// protocol-coverage.md 2.2.5, 2.4.4
TEST_F(VerifyTest, NeedsEveryBlockOfTheSlice) {
  for (size_t i = 0; i < next.blocks.size(); ++i) {
    auto x = next;
    x.blocks.erase(x.blocks.begin() + static_cast<ptrdiff_t>(i));
    expect(x, verdict::bad_proof);
    x = next;
    x.blocks[i].second.back() ^= 1;
    expect(x, verdict::bad_proof);
  }
}

// protocol-coverage.md 2.2.4
TEST_F(VerifyTest, IgnoresUnlinkedAndRepeatedBlocks) {
  auto x = next;
  x.blocks.push_back(x.blocks.front());
  const auto extra = make_record("unlinked");
  x.blocks.emplace_back(cid::of_dag_cbor(extra), extra);
  const auto done = check(x);
  EXPECT_TRUE(done) << done.error().reason;
}

// protocol-coverage.md 2.2.3, 7.5
TEST_F(VerifyTest, NeverTakesBytesThatDoNotHashForTheCommitBlock) {
  auto block = next.sign(repo.key());
  const auto id = cid::of_dag_cbor(block);
  // Another signed commit under the CID of this one.
  next.object.prev = mst::empty_root();
  const auto car = make_car(id, {{id, next.sign(repo.key())}});
  const auto frame = shared_bytes::copy_of(next.encode(next.sign(repo.key())));
  auto event = std::get<commit_event>(decode_frame(frame.view()).value());
  event.commit = id;
  event.blocks = car;
  const auto done = verify_commit(frame, event, key, repo.now());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().why, verdict::bad_shape);
}

// protocol-coverage.md 7.5
TEST_F(VerifyTest, NoChangedByteChangesWhatIsAccepted) {
  const auto frame = next.encode(next.sign(repo.key()));
  const auto good = check(next);
  ASSERT_TRUE(good);
  size_t accepted = 0;
  for (size_t i = 0; i < frame.size(); ++i) {
    auto changed = frame;
    changed[i] ^= static_cast<uint8_t>(1 << (i % 8));
    const auto done = verify_frame(changed, key, repo.now());
    if (!done)
      continue;
    ++accepted;
    EXPECT_EQ(done->repo, good->repo);
    EXPECT_EQ(done->rev, good->rev);
    EXPECT_EQ(done->data, good->data);
    EXPECT_EQ(done->commit, good->commit);
    EXPECT_EQ(done->prev_data, good->prev_data);
    ASSERT_EQ(done->ops.size(), good->ops.size());
    for (size_t j = 0; j < good->ops.size(); ++j) {
      const auto& x = done->ops[j];
      const auto& y = good->ops[j];
      EXPECT_EQ(x.action, y.action);
      EXPECT_EQ(x.collection, y.collection);
      EXPECT_EQ(x.rkey, y.rkey);
      EXPECT_EQ(x.id, y.id);
      EXPECT_EQ(x.prev, y.prev);
      EXPECT_TRUE(std::ranges::equal(x.record.view(), y.record.view()));
    }
  }
  // Fields without a signature: seq, time, since, and those that are ignored.
  EXPECT_LT(accepted, 100u);
}

TEST_F(VerifyTest, AValueThatWasRefusedIsNotThere) {
  const verified<int> out{refusal{verdict::bad_proof, "no"}};
  EXPECT_THROW(static_cast<void>(out.value()), std::logic_error);
}

} // namespace weir::tests

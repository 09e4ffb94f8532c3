#include "atproto/verify.hpp"
#include "tests/support/repo_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// Proves protocol-coverage.md 3.1, 3.5 and 5.2.

namespace weir::tests {

using namespace atproto;

namespace {

class VerifyRootTest : public testing::Test {
protected:
  VerifyRootTest() {
    repo.put("app.test.note/1", make_record("1"));
    repo.commit();
    key = repo.key().public_part();
  }

  test_repo repo;
  public_key key;
};

} // namespace

// protocol-coverage.md 3.1
TEST_F(VerifyRootTest, ChecksASyncLikeACommit) {
  const auto check_sync = [&](const bytes& frame, const public_key& signer,
                              wall_time now) {
    const auto owned = shared_bytes::copy_of(frame);
    const auto event = std::get<sync_event>(decode_frame(owned.view()).value());
    return verify_sync(owned, event, signer, now);
  };
  const auto frame = repo.sync_frame(5);
  const auto done = check_sync(frame, key, repo.now());
  ASSERT_TRUE(done) << done.error().reason;
  EXPECT_EQ(done->repo, repo.did());
  EXPECT_EQ(done->rev, repo.rev());
  EXPECT_EQ(done->data, repo.data());
  EXPECT_EQ(cid::of_dag_cbor(done->commit_block.view()), done->commit);

  EXPECT_EQ(check_sync(frame, test_repo{99}.key().public_part(), repo.now())
              .error()
              .why,
            verdict::bad_signature);
  EXPECT_EQ(
    check_sync(frame, key, repo.now() + -std::chrono::minutes{6}).error().why,
    verdict::future_rev);
  for (size_t i = 0; i < frame.size(); ++i) {
    auto changed = frame;
    changed[i] ^= 0x01;
    const auto event = decode_frame(changed);
    if (!event || !std::holds_alternative<sync_event>(*event))
      continue;
    const auto other = check_sync(changed, key, repo.now());
    EXPECT_TRUE(!other
                || (other->commit == done->commit && other->rev == done->rev
                    && other->repo == done->repo));
  }
}

// protocol-coverage.md 3.5
TEST_F(VerifyRootTest, RefusesASyncWhoseRevIsNotTheCommits) {
  // A server sends this after a migration by import (protocol-coverage.md
  // 11.3).
  const auto frame = shared_bytes::copy_of(repo.sync_frame(5));
  auto event = std::get<sync_event>(decode_frame(frame.view()).value());
  event.rev = tid{event.rev.value() + 1024};
  EXPECT_EQ(verify_sync(frame, event, key, repo.now()).error().why,
            verdict::bad_shape);
}

// protocol-coverage.md 3.0: other blocks of its CAR are ignored; its commit
// must be there
TEST_F(VerifyRootTest, ASyncMayHoldMoreThanItsCommit) {
  const auto commit = repo.commit_block();
  const auto id = cid::of_dag_cbor(commit);
  const auto extra = make_record("extra");
  const named_block other{cid::of_dag_cbor(extra), extra};
  const auto verify = [&](const std::vector<named_block>& blocks) {
    const auto car = make_car(id, blocks);
    const shared_bytes frame{encode_frame(sync_event{
      5, repo.did(), "2026-01-01T00:00:00.000Z", repo.rev(), car})};
    const auto event = std::get<sync_event>(decode_frame(frame.view()).value());
    return verify_sync(frame, event, key, repo.now());
  };
  EXPECT_TRUE(verify({{id, commit}}));
  const auto more = verify({other, {id, commit}, other});
  ASSERT_TRUE(more) << more.error().reason;
  EXPECT_EQ(more->commit, id);
  EXPECT_FALSE(verify({other}));
}

// protocol-coverage.md 5.2
TEST_F(VerifyRootTest, ChecksTheRootOfAnExport) {
  const auto block = repo.commit_block();
  const auto id = cid::of_dag_cbor(block);
  const auto done = verify_root(block, id, repo.did(), key, repo.now());
  ASSERT_TRUE(done) << done.error().reason;
  EXPECT_EQ(done->data, repo.data());
  EXPECT_EQ(done->commit, id);
  EXPECT_TRUE(std::ranges::equal(done->commit_block.view(), block));
  const test_repo other{99};
  const auto why = [&](const cid& name, const did& owner,
                       const public_key& signer, wall_time now) {
    return verify_root(block, name, owner, signer, now).error().why;
  };
  EXPECT_EQ(why(cid::of_raw(block), repo.did(), key, repo.now()),
            verdict::bad_shape);
  EXPECT_EQ(why(repo.data(), repo.did(), key, repo.now()), verdict::bad_shape);
  EXPECT_EQ(why(id, other.did(), key, repo.now()), verdict::bad_shape);
  EXPECT_EQ(why(id, repo.did(), other.key().public_part(), repo.now()),
            verdict::bad_signature);
  EXPECT_EQ(why(id, repo.did(), key, repo.now() + -std::chrono::minutes{6}),
            verdict::future_rev);
  EXPECT_EQ(why(id, repo.did(), other.key().public_part(),
                repo.now() + -std::chrono::minutes{6}),
            verdict::bad_signature)
    << "strangers cannot say what time it is";
}

TEST(VerdictTest, NamesItsVerdicts) {
  EXPECT_STREQ(to_string(verdict::bad_shape), "bad_shape");
  EXPECT_STREQ(to_string(verdict::future_rev), "future_rev");
  EXPECT_STREQ(to_string(verdict::bad_signature), "bad_signature");
  EXPECT_STREQ(to_string(verdict::bad_proof), "bad_proof");
  EXPECT_STREQ(to_string(verdict::unverifiable), "unverifiable");
}

} // namespace weir::tests

#include "atproto/car.hpp"
#include "atproto/verify.hpp"
#include "base/random.hpp"
#include "simnet/signed_repo.hpp"

#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

namespace weir::tests {

namespace {

using atproto::op_action;
using simnet::change;
using simnet::signed_commit;
using simnet::signed_repo;

const auto alice = atproto::did::trusted("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa");
constexpr wall_time now{1'700'000'000'000'000};

bytes make_block(uint64_t x) {
  return {0xa1, 0x61, 'x', 0x18, static_cast<uint8_t>(x | 0x80)};
}

class SignedRepoTest : public ::testing::TestWithParam<atproto::curve> {
protected:
  SignedRepoTest()
    : repo(alice, atproto::private_key::generate(GetParam(), *random)) {
    // nop
  }

  atproto::tid next_rev() { return atproto::tid{++rev_}; }

  /// Verifies the commit as a stranger would.
  atproto::verified<atproto::verified_commit>
  verify(const signed_commit& x) const {
    auto event = x.event;
    event.seq = 1;
    event.time = "2023-11-14T00:00:00.000Z";
    const shared_bytes frame{encode_frame(event)};
    const auto decoded = atproto::decode_frame(frame.view()).value();
    return atproto::verify_commit(frame,
                                  std::get<atproto::commit_event>(decoded),
                                  repo.key().public_part(), now);
  }

  std::unique_ptr<random_source> random = seeded_random(5);
  signed_repo repo;

private:
  uint64_t rev_ = atproto::tid::from_time({1'600'000'000'000'000}, 0).value();
};

} // namespace

// protocol-coverage.md 2.2 to 2.5: every commit has the blocks that its
// verifier needs.
TEST_P(SignedRepoTest, RandomCommitsVerifyAndFollowFromEachOther) {
  std::set<std::string> present;
  ASSERT_TRUE(verify(repo.commit({}, next_rev())));
  for (int i = 0; i < 400; ++i) {
    std::vector<change> changes;
    std::set<std::string> used;
    const auto n = 1 + random->below(i % 10 == 0 ? 40 : 2);
    while (changes.size() < n) {
      const auto path
        = "com.example.thing/" + std::to_string(random->below(300));
      if (!used.insert(path).second)
        continue;
      if (!present.insert(path).second && random->below(3) > 0) {
        changes.push_back({op_action::remove, path, {}});
        present.erase(path);
      } else if (const auto* old = repo.tree().find(path)) {
        auto block = make_block(random->below(100));
        if (block == old->block)
          block.back() ^= 1;
        changes.push_back({op_action::update, path, std::move(block)});
      } else {
        changes.push_back(
          {op_action::create, path, make_block(random->below(100))});
      }
    }
    const auto before = repo.last();
    const auto made = repo.commit(std::move(changes), next_rev());
    EXPECT_EQ(made.event.prev_data, before.data);
    EXPECT_EQ(made.event.since, before.rev);
    const auto verified = verify(made);
    ASSERT_TRUE(verified) << "commit " << i << ": " << verified.error().reason;
    EXPECT_EQ(verified->data, repo.last().data);
    EXPECT_EQ(verified->ops.size(), n);
  }
}

TEST_P(SignedRepoTest, AForgedCommitIsRefusedForItsSignatureAndLeavesNoTrace) {
  repo.import("com.example.thing/a", make_block(1));
  repo.sign(next_rev());
  const auto before = repo.last();
  const auto thief = atproto::private_key::generate(GetParam(), *random);
  const auto forged
    = repo.forge({op_action::create, "com.example.thing/b", make_block(2)},
                 next_rev(), thief);
  const auto verified = verify(forged);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().why, atproto::verdict::bad_signature);
  EXPECT_EQ(repo.last().head, before.head);
  EXPECT_EQ(repo.tree().size(), 1u);
  const auto next = repo.commit(
    [] {
      std::vector<change> out;
      out.push_back({op_action::create, "com.example.thing/c", make_block(3)});
      return out;
    }(),
    next_rev());
  EXPECT_EQ(next.event.prev_data, before.data);
  EXPECT_TRUE(verify(next));
}

TEST_P(SignedRepoTest, ShufflingAnExportKeepsItsBlocks) {
  for (uint64_t i = 0; i < 200; ++i)
    repo.import("com.example.thing/" + std::to_string(i), make_block(i));
  repo.sign(next_rev());
  const auto plain = repo.export_car(nullptr);
  const auto mixed = repo.export_car(random.get());
  EXPECT_NE(plain, mixed);
  const auto x = atproto::car_slice::parse(plain).value();
  const auto y = atproto::car_slice::parse(mixed).value();
  EXPECT_EQ(x.roots(), y.roots());
  EXPECT_TRUE(y.check_hashes());
  EXPECT_EQ(x.blocks().front().id, repo.last().head);
  std::unordered_set<atproto::cid> names;
  for (const auto& block : x.blocks())
    names.insert(block.id);
  for (const auto& block : y.blocks())
    EXPECT_TRUE(names.contains(block.id));
  EXPECT_EQ(x.blocks().size(), y.blocks().size());
}

INSTANTIATE_TEST_SUITE_P(BothCurves, SignedRepoTest,
                         ::testing::Values(atproto::curve::k256,
                                           atproto::curve::p256));

} // namespace weir::tests

#include "atproto/repo_walk.hpp"
#include "tests/support/repo_builder.hpp"

#include <gtest/gtest.h>

#include <limits>

// A disk may return other bytes than were written.

namespace weir::tests {

using namespace atproto;

namespace {

constexpr uint64_t never = std::numeric_limits<uint64_t>::max();

/// Works like a file, but the last byte of its n-th read is wrong.
class rotten_spool final : public spool {
public:
  rotten_spool(uint64_t nth, bool on_disk) : nth_(nth), on_disk_(on_disk) {}

  result<void> append(bytes_view chunk) override {
    return below_->append(chunk);
  }

  result<bytes_view> read(uint64_t offset, size_t size) override {
    auto out = below_->read(offset, size);
    if (!out || ++reads != nth_)
      return out;
    copy_.assign(out->begin(), out->end());
    copy_.back() ^= 1;
    return bytes_view{copy_};
  }

  bool on_disk() const noexcept override { return on_disk_; }

  uint64_t reads = 0;

private:
  std::unique_ptr<spool> below_ = make_memory_spool(1'000'000);
  uint64_t nth_;
  bool on_disk_;
  bytes copy_;
};

test_repo repo_of(size_t records) {
  test_repo out{1};
  for (size_t i = 0; i < records; ++i)
    out.put("app.test.note/" + std::to_string(i),
            make_record(std::to_string(i)));
  out.commit();
  return out;
}

/// The result of a walk over the repo's CAR in this spool.
ec outcome(const test_repo& repo, spool& store) {
  const auto overflow = make_memory_spool(1'000'000);
  repo_walk in{repo.did(), store, *overflow, {}};
  if (const auto fed = in.feed(repo.export_car()); !fed)
    return fed.error().code;
  if (const auto root = in.finish(repo.key().public_part(), repo.now()); !root)
    return ec::verification_failed;
  const auto done = in.step(never, [](const walked_record&) {});
  return done ? ec::none : done.error().code;
}

} // namespace

TEST(RepoWalkSpoolTest, NoChangedBlockOfAFileIsTaken) {
  const auto repo = repo_of(30);
  rotten_spool sound{never, true};
  ASSERT_EQ(outcome(repo, sound), ec::none);
  ASSERT_GT(sound.reads, 30u) << "each record, and nodes";
  for (uint64_t nth = 1; nth <= sound.reads; ++nth) {
    rotten_spool store{nth, true};
    EXPECT_EQ(outcome(repo, store), ec::storage_failure) << "read " << nth;
  }
}

// Memory is trusted, and costs no check of each block.
TEST(RepoWalkSpoolTest, WhatNeverLeftMemoryIsNotHashedAgain) {
  const auto repo = repo_of(1);
  rotten_spool sound{never, false};
  ASSERT_EQ(outcome(repo, sound), ec::none);
  rotten_spool store{sound.reads, false};
  EXPECT_NE(outcome(repo, store), ec::storage_failure);
}

} // namespace weir::tests

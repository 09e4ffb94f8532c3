#include "storage/segments/export_mark.hpp"
#include "tests/unit/storage/apply_steps.hpp"
#include "tests/unit/storage/store_kinds.hpp"

#include <gmock/gmock.h>

// Files of segments: their ends after a crash, damage, limits, and what is
// refused (docs/segment-format.md).

namespace weir::storage {
namespace {

using tests::apply_step;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* directory = "/segments";

class SegmentFilesTest : public testing::Test {
protected:
  result<void> try_open(access_mode access = access_mode::owner) {
    store.reset();
    how.directory = directory;
    how.disk = &disk;
    how.access = access;
    auto opened = segment_store::open(how, time);
    if (!opened)
      return opened.error();
    store = std::move(*opened);
    return {};
  }

  void open() {
    const auto ok = try_open();
    ASSERT_TRUE(ok) << to_string(ok.error());
  }

  apply_receipt write(const std::string& rkey, size_t size = 100) {
    auto step = alice.commit({{"app.a.x/" + rkey, std::string(size, 'x')}});
    step.request.sync = sync;
    return step.on(*store);
  }

  void write_some(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const auto receipt = write(std::to_string(++written));
      ASSERT_EQ(receipt.outcome, apply_outcome::done) << receipt.reason;
    }
  }

  /// Removes everything.
  void begin_anew() {
    store.reset();
    for (const auto& name : disk.names())
      disk.RemoveFile(name);
    alice = tests::applying_account{'a'};
    written = 0;
  }

  /// The files with operations, in their order.
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& name : disk.names())
      if (name.ends_with(".seg"))
        out.push_back(name);
    std::ranges::sort(out);
    return out;
  }

  tests::memory_disk disk;
  manual_clock time;
  segment_options how;
  sync_mode sync = sync_mode::durable;
  std::unique_ptr<segment_store> store;
  tests::applying_account alice{'a'};
  int written = 0;
};

TEST_F(SegmentFilesTest, AFileThatIsLargeEnoughEnds) {
  how.segment_bytes_max = 1'000;
  open();
  write_some(10);
  EXPECT_GT(files().size(), 2u);
  EXPECT_THAT(files().front(), HasSubstr("operations-00000000000000000001.seg"));
  open();
  EXPECT_EQ(store->last_id(), 20u);
  EXPECT_THAT(store->get_since_id(0).value().found, SizeIs(20));
  write_some(1);
  EXPECT_EQ(store->last_id(), 22u);
}

// Exactly at the limit a file ends; one byte below, it goes on.
TEST_F(SegmentFilesTest, AFileGoesOnBelowTheLimit) {
  open();
  write_some(1);
  store.reset();
  const auto size = disk.read(files().front()).size();
  how.segment_bytes_max = size + 1;
  open();
  write_some(1);
  EXPECT_THAT(files(), SizeIs(1));
  how.segment_bytes_max = disk.read(files().front()).size();
  open();
  write_some(1);
  EXPECT_THAT(files(), SizeIs(2));
}

TEST_F(SegmentFilesTest, ATornEndIsCutOff) {
  open();
  write_some(2);
  store.reset();
  const auto name = files().front();
  const auto two = disk.read(name);
  open();
  write_some(1);
  store.reset();
  const auto three = disk.read(name);
  for (size_t size = two.size() + 1; size < three.size(); ++size) {
    disk.write(name, three.substr(0, size));
    open();
    EXPECT_EQ(store->last_id(), 4u) << size;
    store.reset();
    EXPECT_EQ(disk.read(name), two);
  }
  // Any byte of the last frame that is wrong is an end, too.
  for (size_t at = two.size(); at < three.size(); at += 7) {
    disk.write(name, three);
    disk.flip_bit(name, at, 1);
    open();
    EXPECT_EQ(store->last_id(), 4u) << at;
    store.reset();
  }
}

TEST_F(SegmentFilesTest, DamageBeforeSoundFramesIsRefused) {
  open();
  write_some(3);
  store.reset();
  const auto name = files().front();
  for (const size_t byte : {0u, 12u, 17u, 22u, 60u}) {
    disk.flip_bit(name, byte, 3);
    const auto before = disk.read(name);
    const auto ok = try_open();
    ASSERT_FALSE(ok) << byte;
    EXPECT_EQ(ok.error().code, ec::storage_failure);
    EXPECT_EQ(disk.read(name), before);
    disk.flip_bit(name, byte, 3);
  }
  EXPECT_TRUE(try_open());
}

TEST_F(SegmentFilesTest, DamageOfAnEarlierFileIsRefused) {
  how.segment_bytes_max = 500;
  open();
  write_some(5);
  store.reset();
  const auto name = files().front();
  const auto whole = disk.read(name);
  disk.write(name, whole.substr(0, whole.size() - 1));
  EXPECT_FALSE(try_open());
  disk.write(name, whole);
  EXPECT_TRUE(try_open());
  store.reset();
  disk.RemoveFile(files()[1]);
  EXPECT_FALSE(try_open());
}

// What follows is one whole frame, and no torn end.
TEST_F(SegmentFilesTest, ALostFileBeforeTheLastFrameIsRefused) {
  how.segment_bytes_max = 500;
  open();
  write_some(5);
  store.reset();
  const auto all = files();
  ASSERT_GE(all.size(), 3u);
  const auto last = disk.read(all.back());
  disk.RemoveFile(all[all.size() - 2]);
  EXPECT_FALSE(try_open());
  EXPECT_EQ(disk.read(all.back()), last) << "nothing of it is cut off";
}

// A record can contain what looks like a frame, but not the identity.
TEST_F(SegmentFilesTest, AFrameInARecordIsNoFrame) {
  open();
  write_some(1);
  const auto forged = encode_frame(42, 1'000, as_bytes("payload"));
  alice.commit({{"app.a.x/f", forged}}).on(*store);
  store.reset();
  const auto name = files().front();
  const auto whole = disk.read(name);
  disk.write(name, whole.substr(0, whole.size() - 1));
  open();
  EXPECT_EQ(store->last_id(), 2u);
}

TEST_F(SegmentFilesTest, WhatIsSyncedSurvivesAPowerFailure) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    how.segment_bytes_max = 700;
    open();
    write_some(2);
    const auto durable = store->last_id();
    sync = sync_mode::relaxed;
    write_some(3);
    sync = sync_mode::durable;
    const auto after = store->last_id();
    const auto random = seeded_random(seed);
    disk.cut_power(*random, {.garble = seed % 2 == 0});
    store.reset();
    disk.power_on();
    open();
    EXPECT_GE(store->last_id(), durable);
    EXPECT_LE(store->last_id(), after);
    // Another account goes on from what is there.
    tests::applying_account next{static_cast<char>('b' + seed % 20)};
    EXPECT_EQ(next.commit({{"app.a.x/1", "again"}}).on(*store).outcome,
              apply_outcome::done);
    begin_anew();
  }
}

TEST_F(SegmentFilesTest, SyncMakesDurableWhatWasNot) {
  open();
  sync = sync_mode::relaxed;
  write_some(4);
  ASSERT_TRUE(store->sync());
  const auto random = seeded_random(1);
  disk.cut_power(*random, {.bytes = tests::kept::none,
                           .entries = tests::kept::none});
  store.reset();
  disk.power_on();
  open();
  EXPECT_EQ(store->last_id(), 8u);
}

// OPLOG-10
TEST_F(SegmentFilesTest, AWriteThatFailsIsTheLastOne) {
  open();
  write_some(1);
  const auto fact = alice.fact(identity_scope, "alice.test");
  disk.kill();
  EXPECT_EQ(fact.on(*store).outcome, apply_outcome::atomicity_failed);
  disk.power_on();
  EXPECT_EQ(fact.on(*store).outcome, apply_outcome::atomicity_failed);
  EXPECT_FALSE(store->sync());
  open();
  EXPECT_EQ(store->last_id(), 2u);
}

TEST_F(SegmentFilesTest, StreamsHaveALimit) {
  how.streams_max = 3;
  open();
  auto over = alice.commit({{"app.a.x/1", "a"}, {"app.b.y/1", "b"},
                            {"app.c.z/1", "c"}});
  EXPECT_EQ(over.on(*store).outcome, apply_outcome::invalid_operation);
  EXPECT_EQ(store->last_id(), 0u);
  alice = tests::applying_account{'a'};
  EXPECT_EQ(alice.commit({{"app.a.x/1", "a"}, {"app.b.y/1", "b"}})
              .on(*store)
              .outcome,
            apply_outcome::done);
  how.streams_max = 2;
  const auto ok = try_open();
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().code, ec::limit_reached);
}

TEST_F(SegmentFilesTest, AFrameHasALimit) {
  how.directory = directory;
  how.disk = &disk;
  std::vector<size_t> sizes;
  const auto note = [&](op_id, const shared_bytes& x) -> result<size_t> {
    sizes.push_back(x.size());
    return 1;
  };
  const bytes largest(limits::segment_frame_bytes_max);
  bytes larger = largest;
  larger.push_back(0);
  auto files = segment_files::open(how, note).value();
  EXPECT_TRUE(files->append(largest, 1, sync_mode::relaxed));
  EXPECT_EQ(files->append(larger, 1, sync_mode::relaxed).error().code,
            ec::limit_reached);
  EXPECT_TRUE(files->append(bytes(5), 1, sync_mode::relaxed));
  files.reset();
  files = segment_files::open(how, note).value();
  EXPECT_THAT(sizes, testing::ElementsAre(largest.size(), 5));
}

TEST_F(SegmentFilesTest, OneOwnerAtATime) {
  open();
  segment_options second = how;
  EXPECT_FALSE(segment_store::open(second, time));
  second.access = access_mode::read_only;
  EXPECT_FALSE(segment_store::open(second, time));
  store.reset();
  EXPECT_TRUE(segment_store::open(second, time));
}

TEST_F(SegmentFilesTest, AReaderMakesAndChangesNothing) {
  EXPECT_EQ(try_open(access_mode::read_only).error().code, ec::not_found);
  EXPECT_THAT(disk.names(), SizeIs(0));
  open();
  write_some(2);
  store.reset();
  const auto name = files().front();
  const auto whole = disk.read(name);
  disk.write(name, whole.substr(0, whole.size() - 5));
  ASSERT_TRUE(try_open(access_mode::read_only));
  EXPECT_EQ(store->last_id(), 2u);
  EXPECT_EQ(disk.read(name).size(), whole.size() - 5);
}

TEST_F(SegmentFilesTest, ADirectoryOfOtherFilesIsRefused) {
  disk.CreateDir(directory);
  disk.write(std::string{directory} + "/letter.txt", "dear");
  const auto ok = try_open();
  ASSERT_FALSE(ok);
  EXPECT_THAT(ok.error().context, HasSubstr("letter.txt"));
}

TEST_F(SegmentFilesTest, ADamagedIdentityIsRefused) {
  open();
  store.reset();
  disk.write(std::string{directory} + "/SEGMENTS", "weir segments 2\n");
  EXPECT_FALSE(try_open());
}

TEST_F(SegmentFilesTest, ItsEndIsMarked) {
  open();
  EXPECT_FALSE(check_complete(disk, directory, 0));
  ASSERT_TRUE(mark_complete(disk, directory, 12));
  EXPECT_TRUE(check_complete(disk, directory, 12));
  EXPECT_EQ(check_complete(disk, directory, 11).error().code,
            ec::storage_failure);
}

} // namespace
} // namespace weir::storage

#include "base/random.hpp"
#include "storage/disk/file_spool.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <sys/resource.h>

// The buffer for the bytes of a large CAR (architecture.md, The stages): it is
// limited in memory and on disk, and damaged or missing data is an error.

namespace weir::storage {

namespace {

using tests::temp_dir;

constexpr uint64_t window = 65'536;

bytes noise(size_t size) {
  const auto random = seeded_random(3);
  bytes out(size);
  random->fill(out);
  return out;
}

/// Appends in pieces of different sizes.
result<void> fill(file_spool& to, bytes_view data) {
  for (size_t at = 0, size = 1; at < data.size(); at += size, size += 777) {
    size = std::min(size, data.size() - at);
    if (auto ok = to.append(data.subspan(at, size)); !ok)
      return ok;
  }
  return {};
}

/// A path under which the file without a name can be opened.
std::string hidden_file_of(const temp_dir& x) {
  namespace fs = std::filesystem;
  for (const auto& open : fs::directory_iterator{"/proc/self/fd"}) {
    std::error_code gone; // Errors of the iterator.
    const auto target = fs::read_symlink(open.path(), gone).string();
    if (target.starts_with(x.path().string() + "/"))
      return open.path().string();
  }
  ADD_FAILURE() << "no file is open in " << x.path();
  return {};
}

/// As long as it lives, no file may grow beyond this size.
class file_size_limit {
public:
  explicit file_size_limit(rlim_t size) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    auto lowered = before_;
    lowered.rlim_cur = size;
    ::setrlimit(RLIMIT_FSIZE, &lowered);
  }

  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

} // namespace

TEST(FileSpoolTest, WhatWasAppendedIsReadFromMemoryAndFromDisk) {
  const temp_dir at;
  const auto data = noise(3 * window + 17);
  for (const uint64_t memory_max : {uint64_t{0}, window, uint64_t{1} << 20}) {
    file_spool spool{at.path(), memory_max, data.size()};
    ASSERT_TRUE(fill(spool, data));
    EXPECT_EQ(spool.on_disk(), memory_max < data.size());
    const auto random = seeded_random(5);
    for (int i = 0; i < 500; ++i) {
      const auto from = random->below(data.size() + 1);
      const auto size = random->below(data.size() - from + 1);
      const auto read = spool.read(from, size);
      ASSERT_TRUE(read);
      EXPECT_TRUE(
        std::ranges::equal(*read, bytes_view{data}.subspan(from, size)));
    }
  }
}

TEST(FileSpoolTest, ReadersSeeWhatIsAppendedBehindTheirWindow) {
  const temp_dir at;
  const auto data = noise(1'000);
  file_spool spool{at.path(), 0, 2'000};
  ASSERT_TRUE(spool.append(data));
  ASSERT_TRUE(spool.read(0, 1'000));
  ASSERT_TRUE(spool.append(data));
  EXPECT_TRUE(std::ranges::equal(spool.read(1'000, 1'000).value(), data));
}

// The file has no name, so a crash leaves nothing to clean up.
TEST(FileSpoolTest, NothingIsSeenInItsDirectory) {
  const temp_dir at;
  file_spool spool{at.path(), 0, window};
  ASSERT_TRUE(spool.append(noise(100)));
  ASSERT_TRUE(spool.on_disk());
  EXPECT_TRUE(std::filesystem::is_empty(at.path()));
}

TEST(FileSpoolTest, SoManyBytesGoIntoMemoryAndNotOneMore) {
  const temp_dir at;
  for (const size_t more : {0, 1}) {
    file_spool spool{at.path(), 1'000, window};
    ASSERT_TRUE(spool.append(noise(1'000 + more)));
    EXPECT_EQ(spool.on_disk(), more == 1);
  }
}

// hostile-inputs.md 2.1.17: a host's data takes no more disk than was granted.
TEST(FileSpoolTest, SoManyBytesAreTakenAndNotOneMore) {
  const temp_dir at;
  for (const uint64_t memory_max : {0, 2'000}) {
    file_spool spool{at.path(), memory_max, 1'000};
    ASSERT_TRUE(spool.append(noise(999)));
    EXPECT_EQ(spool.append(noise(2)).error().code, ec::limit_reached);
    ASSERT_TRUE(spool.append(noise(1)));
    EXPECT_EQ(spool.append(noise(1)).error().code, ec::limit_reached);
  }
}

TEST(FileSpoolTest, ReadingBehindTheEndIsAnError) {
  const temp_dir at;
  for (const uint64_t memory_max : {0, 2'000}) {
    file_spool spool{at.path(), memory_max, 1'000};
    ASSERT_TRUE(spool.append(noise(100)));
    EXPECT_TRUE(spool.read(100, 0));
    EXPECT_EQ(spool.read(100, 1).error().code, ec::storage_failure);
    EXPECT_EQ(spool.read(101, 0).error().code, ec::storage_failure);
    EXPECT_EQ(spool.read(1, SIZE_MAX).error().code, ec::storage_failure);
  }
}

TEST(FileSpoolTest, ADirectoryThatIsNotThereIsAnError) {
  const temp_dir at;
  file_spool spool{at.at("gone"), 10, 1'000};
  ASSERT_TRUE(spool.append(noise(10)));
  const auto moved = spool.append(noise(1));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ec::storage_failure);
  EXPECT_NE(moved.error().context.find("opening"), std::string::npos);
}

TEST(FileSpoolTest, AFileThatMayNotGrowIsAnError) {
  const temp_dir at;
  file_spool spool{at.path(), 0, window};
  ASSERT_TRUE(spool.append(noise(500)));
  const file_size_limit lowered{1'000};
  const auto grown = spool.append(noise(501));
  ASSERT_FALSE(grown);
  EXPECT_EQ(grown.error().code, ec::storage_failure);
  EXPECT_NE(grown.error().context.find("writing"), std::string::npos);
}

TEST(FileSpoolTest, AFileThatWasCutIsAnErrorNeverOtherBytes) {
  const temp_dir at;
  file_spool spool{at.path(), 0, window};
  ASSERT_TRUE(spool.append(noise(1'000)));
  std::filesystem::resize_file(hidden_file_of(at), 400);
  errno = ENOSPC; // Left by an earlier call.
  const auto read = spool.read(0, 1'000);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ec::storage_failure);
}

} // namespace weir::storage

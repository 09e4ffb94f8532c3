#include "tests/unit/storage/store_fixture.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// Special cases of a store's locks: storage-format.md 1.

namespace weir::storage {
namespace {

using tests::has_row;
using tests::open_store;
using tests::put_row;

/// Another process that owns a store until it is killed.
class other_owner {
public:
  explicit other_owner(const tests::store_settings& how) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      auto store = open_store(nullptr, how);
      const char ok = store && put_row(**store, 1) ? 'y' : 'n';
      if (::write(ready[1], &ok, 1) == 1)
        ::pause();
      ::_exit(1);
    }
    char answer = 'n';
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }

  ~other_owner() { kill(); }

  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
  }

  std::string text() const { return "process " + std::to_string(pid_); }

private:
  pid_t pid_ = -1;
};

/// Tries to open the store in another process; true when it was refused.
bool refused_elsewhere(const tests::store_settings& how) {
  const auto child = ::fork();
  if (child == 0)
    ::_exit(open_store(nullptr, how) ? 1 : 0);
  int status = 1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

TEST(StoreLockTest, AnOwnerIsNamedAndOnceKilledHoldsNothing) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store")};
  other_owner other{how};
  const auto refused = open_store(nullptr, how);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ec::invalid_argument);
  EXPECT_NE(refused.error().context.find(other.text()), std::string::npos)
    << refused.error().context;
  other.kill();
  auto store = open_store(nullptr, how);
  ASSERT_TRUE(store) << store.error().context;
  EXPECT_TRUE(has_row(**store, 1));
}

TEST(StoreLockTest, WhatStandsInTheFileLocksNothing) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store")};
  put_row(*open_store(nullptr, how).value(), 1);
  // The pid of a live process, an impossible one, garbage, and nothing.
  for (const auto& text : {std::to_string(::getppid()), std::string{"-1"},
                           std::string(5'000, 'x'), std::string{}}) {
    std::ofstream{how.directory + "/OWNER", std::ios::trunc} << text;
    const auto store = open_store(nullptr, how);
    ASSERT_TRUE(store) << store.error().context;
    EXPECT_TRUE(has_row(**store, 1));
  }
}

// Closing any descriptor of a file drops an fcntl lock, and removing the file
// leaves a lock that no process can find: each lock protects against the loss
// of the other.
TEST(StoreLockTest, OneOfTheTwoLocksIsEnough) {
  for (const auto* lost : {"/OWNER", "/LOCK"}) {
    const tests::temp_dir dir;
    const tests::store_settings how{.directory = dir.at("store")};
    auto store = open_store(nullptr, how).value();
    ASSERT_TRUE(std::filesystem::remove(how.directory + lost));
    EXPECT_FALSE(open_store(nullptr, how)) << lost;
    EXPECT_TRUE(refused_elsewhere(how)) << lost;
    ASSERT_TRUE(put_row(*store, 1));
    store = nullptr;
    EXPECT_TRUE(has_row(*open_store(nullptr, how).value(), 1));
  }
}

TEST(StoreLockTest, ALookAtTheFilesLoosensNothing) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store")};
  const auto store = open_store(nullptr, how).value();
  for (const auto& entry : std::filesystem::directory_iterator{how.directory}) {
    std::ifstream file{entry.path()};
    EXPECT_TRUE(file) << entry.path();
  }
  EXPECT_TRUE(refused_elsewhere(how));
}

// Before the lock decides, both find an empty directory. The loser must not
// leave its identity in the winner's store.
TEST(StoreLockTest, OfManyWhoMakeAStoreAtOnceOneOwnsIt) {
  for (uint64_t round = 1; round <= 20; ++round) {
    const tests::temp_dir dir;
    const auto directory = dir.at("store");
    std::atomic<int> ready{0};
    std::vector<result<std::unique_ptr<database>>> opened;
    for (int i = 0; i < 4; ++i)
      opened.emplace_back(fail(ec::none, ""));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < opened.size(); ++i)
      threads.emplace_back([&, i] {
        ++ready;
        while (ready != 4) {
        }
        opened[i] = open_store(
          nullptr, {.directory = directory, .seed = round * 10 + i});
      });
    for (auto& x : threads)
      x.join();
    size_t owners = 0;
    for (auto& x : opened) {
      if (!x)
        continue;
      ++owners;
      EXPECT_TRUE(put_row(**x, 1));
    }
    EXPECT_EQ(owners, 1u);
    opened.clear();
    const auto again = open_store(nullptr, {.directory = directory});
    ASSERT_TRUE(again) << again.error().context;
    EXPECT_TRUE(has_row(**again, 1));
  }
}

} // namespace weir::storage

#include "base/log_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fcntl.h>
#include <memory>
#include <string>
#include <unistd.h>

namespace weir::log {
namespace {

/// A pipe that is not read until the test does.
class LineWriterTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(::pipe(ends_.data()), 0);
    ASSERT_EQ(::fcntl(ends_[1], F_SETPIPE_SZ, 65'536), 65'536);
    writer_ = std::make_unique<line_writer>(ends_[1], [](uint64_t lines) {
      return "lost " + std::to_string(lines) + '\n';
    });
  }

  void TearDown() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  /// The content of the pipe.
  std::string read_all() {
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    std::string out;
    std::array<char, 4096> piece{};
    for (ssize_t n = 0; (n = ::read(ends_[0], piece.data(), piece.size())) > 0;)
      out.append(piece.data(), static_cast<size_t>(n));
    return out;
  }

  std::array<int, 2> ends_{-1, -1};
  std::unique_ptr<line_writer> writer_;
};

size_t lines_in(const std::string& x) {
  return static_cast<size_t>(std::count(x.begin(), x.end(), '\n'));
}

} // namespace

TEST_F(LineWriterTest, LinesWithoutAReaderAreLostAndCounted) {
  constexpr size_t more = 5'000;
  const auto text = std::string(99, 'x') + '\n';
  for (size_t i = 0; i < more; ++i)
    writer_->write(text); // It returns.
  const auto first = read_all();
  const auto kept = lines_in(first);
  EXPECT_GT(kept, 300u);
  EXPECT_LT(kept, 700u);
  EXPECT_EQ(first.find("lost"), std::string::npos);
  writer_->write("again\n");
  EXPECT_EQ(read_all(), "lost " + std::to_string(more - kept) + "\nagain\n");
  writer_->write("and on\n");
  EXPECT_EQ(read_all(), "and on\n");
}

TEST_F(LineWriterTest, ALineThatFindsRoomForItsBeginningIsEnded) {
  const auto text = std::string(100'000, 'y') + '\n';
  writer_->write(text);
  const auto first = read_all();
  EXPECT_EQ(first, text.substr(0, first.size()));
  ASSERT_LT(first.size(), text.size());
  writer_->write("again\n");
  EXPECT_EQ(read_all(), "\nlost 1\nagain\n");
}

// A line that is lost is normally not waited for after another was. The last
// one is: no later line could say that it was lost.
TEST_F(LineWriterTest, TheLastLineIsWaitedForAlsoAfterOthersWereLost) {
  const auto text = std::string(100'000, 'z') + '\n';
  writer_->write(text);
  const auto begin = std::chrono::steady_clock::now();
  writer_->write_last("gone\n"); // It returns.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, line_writer::patience);
  read_all();
  writer_->write_last("the end\n");
  EXPECT_EQ(read_all(), "\nlost 2\nthe end\n");
}

} // namespace weir::log

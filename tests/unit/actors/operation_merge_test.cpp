#include "actors/api/operation_merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// The operations of several partitions in one order: docs/api.md, `GET
// /v1/ops`; OPLOG-15.

namespace weir::tests {
namespace {

using namespace weir::actors;
using storage::op_id;

/// Partitions whose logs are this long, and a reader that remembers its place.
class OperationMergeTest : public testing::Test {
protected:
  struct log {
    op_id durable = 0;
    op_id every = 1; ///< Only operations with such a multiple as id fit.
    size_t body = 0;
  };

  void set(std::vector<log> logs) {
    logs_ = std::move(logs);
    numbers_.clear();
    for (uint16_t i = 0; i < logs_.size(); ++i)
      numbers_.push_back(wire::event_numbers{
        {}, i, static_cast<uint16_t>(logs_.size())});
    places_.assign(logs_.size(), 0);
  }

  /// One page; the place moves.
  std::vector<uint64_t> page(const operation_merge::bounds& bounds) {
    std::vector<uint64_t> out;
    operation_merge merge{bounds, [this](auto... x) { return read(x...); }};
    for (size_t i = 0; i < logs_.size(); ++i)
      merge.add(numbers_[i], places_[i], places_[i] < logs_[i].durable);
    for (;;) {
      auto next = merge.next();
      EXPECT_TRUE(next);
      if (!next || !*next)
        break;
      out.push_back((*next)->id);
    }
    places_ = merge.places();
    more_ = merge.more();
    return out;
  }

  /// All pages up to the end.
  std::vector<uint64_t> pages(const operation_merge::bounds& bounds) {
    std::vector<uint64_t> out;
    size_t left = 10'000;
    do {
      const auto ids = page(bounds);
      out.insert(out.end(), ids.begin(), ids.end());
    } while (more_ && --left > 0);
    EXPECT_GT(left, 0u) << "it never ended";
    return out;
  }

  /// The ids of all that fit.
  std::vector<uint64_t> expected() const {
    std::vector<uint64_t> out;
    for (size_t i = 0; i < logs_.size(); ++i)
      for (op_id id = 1; id <= logs_[i].durable; ++id)
        if (id % logs_[i].every == 0)
          out.push_back(numbers_[i].id_of(id).value());
    std::ranges::sort(out);
    return out;
  }

  result<storage::operation_page> read(uint16_t partition, op_id after,
                                       const storage::read_bounds& within) {
    const auto& from = logs_[partition];
    storage::operation_page out;
    out.through = after;
    size_t bytes = 0;
    for (op_id looked = 0; out.through < from.durable; ++looked) {
      if (out.found.size() >= within.ops_max || looked >= within.looked_max
          || bytes >= within.bytes_max) {
        out.more = true;
        break;
      }
      if (++out.through % from.every != 0)
        continue;
      storage::stored_operation x;
      x.id = out.through;
      x.body = shared_bytes{bytes_of(from.body)};
      bytes += from.body;
      out.found.push_back(std::move(x));
    }
    looked_ += out.through - after;
    return out;
  }

  static weir::bytes bytes_of(size_t n) { return weir::bytes(n, 'x'); }

  static constexpr size_t many = 1'000'000;

  std::vector<log> logs_;
  std::vector<wire::event_numbers> numbers_;
  std::vector<uint64_t> places_;
  bool more_ = false;
  uint64_t looked_ = 0;
};

} // namespace

TEST_F(OperationMergeTest, AllComeOnceInTheOrderOfTheirIds) {
  for (const auto& logs : std::vector<std::vector<log>>{
         {{40}}, {{30}, {10}, {25}, {0}}, {{3}, {50}}}) {
    set(logs);
    for (const size_t ops_max : {1u, 2u, 7u, 1'000u}) {
      places_.assign(logs_.size(), 0);
      EXPECT_EQ(pages({ops_max, many, many}), expected()) << ops_max;
      for (size_t i = 0; i < logs_.size(); ++i)
        EXPECT_EQ(places_[i], logs_[i].durable);
    }
  }
}

TEST_F(OperationMergeTest, PagesAreFullHoweverFewFit) {
  set({{500, 50}, {500, 7}, {500, 501}});
  for (;;) {
    const auto ids = page({5, many, many});
    if (!more_)
      break;
    EXPECT_EQ(ids.size(), 5u);
  }
  places_.assign(3, 0);
  EXPECT_EQ(pages({5, many, many}), expected());
}

// What a partition writes later comes, although others have gone on.
TEST_F(OperationMergeTest, APartitionThatLagsLosesNothing) {
  set({{5}, {40}});
  auto ids = pages({8, many, many});
  logs_[0].durable = 30;
  const auto late = pages({8, many, many});
  EXPECT_EQ(late.size(), 25u);
  ids.insert(ids.end(), late.begin(), late.end());
  std::ranges::sort(ids);
  EXPECT_EQ(ids, expected());
}

// A call looks at so many, and goes on where it ended.
TEST_F(OperationMergeTest, OneCallLooksAtSoManyOfAllPartitions) {
  set({{100, 101}, {100, 90}, {100, 20}});
  looked_ = 0;
  EXPECT_TRUE(page({10, many, 100}).empty());
  EXPECT_EQ(looked_, 100u);
  EXPECT_TRUE(more_);
  looked_ = 0;
  page({10, many, 99});
  EXPECT_LE(looked_, 99u);
  places_.assign(3, 0);
  EXPECT_EQ(pages({10, many, 30}), expected());
}

TEST_F(OperationMergeTest, BytesBoundAPageThatHasOneAtLeast) {
  set({{4, 1, 100}, {4, 1, 100}});
  EXPECT_EQ(page({10, 300, many}).size(), 3u);
  places_.assign(2, 0);
  EXPECT_EQ(page({10, 299, many}).size(), 2u);
  places_.assign(2, 0);
  EXPECT_EQ(pages({10, 1, many}), expected());
}

TEST_F(OperationMergeTest, AFailedReadEndsThePage) {
  set({{4}});
  operation_merge merge{{10, many, many}, [](auto&&...) {
                          return fail(ec::cancelled, "the node is stopping");
                        }};
  merge.add(numbers_[0], 0, true);
  EXPECT_EQ(merge.next().error().code, ec::cancelled);
}

} // namespace weir::tests

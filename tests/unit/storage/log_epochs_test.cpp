#include "storage/format/keys.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/log_epochs.hpp"
#include "tests/unit/storage/committer_fixture.hpp"

#include <set>

// ADR 14: a restored store moves its ids forward.
namespace weir::storage {
namespace {

constexpr int64_t autumn = limits::adopted_ids_since + 28'374'400; // 2026-11-25

class LogEpochsTest : public tests::committer_fixture {
protected:
  void SetUp() override {
    apply(alice, alice.appear(repo_status::synced));
  }

  /// Writes `count` commits, of two operations each.
  void write(size_t count) {
    for (size_t i = 0; i < count; ++i)
      apply(alice, alice.commit({{tests::numbered("app.a.x/", ++written_), "r"}}));
  }

  log_epoch adopt(int64_t seconds) {
    auto out = begin_log_epoch(*store.db, wall_time{seconds * 1'000'000}, *random);
    EXPECT_TRUE(out);
    return out ? *out : log_epoch{};
  }

  static uint64_t first_id(const log_epoch& x) { return x.first + x.ahead; }

  std::unique_ptr<random_source> random = seeded_random(5);

private:
  size_t written_ = 0;
};

TEST_F(LogEpochsTest, AStoreThatWasNeverAdoptedHasNone) {
  write(3);
  EXPECT_TRUE(load_log_epochs(*store.db).value().empty());
}

TEST_F(LogEpochsTest, OneBeginsWithTheNextOperationAndIsDurable) {
  write(3);
  const auto last = store.writer->last_id();
  const auto begun = adopt(autumn);
  EXPECT_EQ(begun.first, last + 1);
  EXPECT_GT(first_id(begun), last + limits::adopted_ids_ahead);
  store.disk.kill();
  store.close();
  store.disk.power_on();
  store.reopen();
  EXPECT_EQ(load_log_epochs(*store.db).value(), std::vector{begun});
  EXPECT_EQ(store.writer->last_id(), last) << "operations go on without a hole";
  write(1);
  EXPECT_EQ(store.findings(), "");
}

// limits::adopted_ids_a_second, limits::adopted_ids_since: one backup is
// restored twice
TEST_F(LogEpochsTest, EverySecondHasIdsOfItsOwn) {
  write(3);
  const auto before = adopt(autumn);
  // The backup is restored.
  store.erase_raw(encode_key(meta_key{log_epochs_row_name}));
  const auto again = adopt(autumn + 1);
  EXPECT_EQ(first_id(before), 28'374'400 * limits::adopted_ids_a_second);
  EXPECT_EQ(first_id(again), first_id(before) + limits::adopted_ids_a_second);
}

// A store that was adopted a moment before is restored like any other.
TEST_F(LogEpochsTest, ACopyOfAnAdoptedStoreIsMovedOnByTheClock) {
  write(3);
  const auto first = adopt(autumn);
  write(2);
  for (const int64_t later : {1, 2, 60}) {
    const auto kept = store.get_raw(encode_key(meta_key{log_epochs_row_name}));
    const auto next = adopt(autumn + later);
    EXPECT_EQ(first_id(next), first_id(first)
                                + static_cast<uint64_t>(later)
                                    * limits::adopted_ids_a_second);
    // The backup is restored.
    store.put_raw(encode_key(meta_key{log_epochs_row_name}), kept);
  }
}

// The adopted copy may have been in use before it was restored.
TEST_F(LogEpochsTest, OneThatNothingWasWrittenInIsMovedOnAllTheSame) {
  write(3);
  const auto before = adopt(autumn);
  const auto again = adopt(autumn);
  EXPECT_GE(first_id(again), first_id(before) + limits::adopted_ids_ahead);
  EXPECT_EQ(load_log_epochs(*store.db).value(), std::vector{again});
}

// limits::adopted_ids_ahead, limits::adopted_ids_drawn
TEST_F(LogEpochsTest, WhereTheClockIsWrongTheDistanceIsDrawn) {
  write(3);
  const auto usual = store.writer->last_id() + 1;
  std::set<uint64_t> drawn;
  for (size_t i = 0; i < 20; ++i) {
    const auto next = adopt(0);
    drawn.insert(first_id(next));
    EXPECT_GE(first_id(next), usual + limits::adopted_ids_ahead);
    EXPECT_LT(first_id(next),
              usual + limits::adopted_ids_ahead
                + limits::adopted_ids_drawn * limits::adopted_ids_a_second);
    // The backup is restored.
    store.erase_raw(encode_key(meta_key{log_epochs_row_name}));
  }
  EXPECT_EQ(drawn.size(), 20u);
  const auto first = adopt(0);
  write(1);
  const auto second = adopt(0);
  EXPECT_GT(first_id(second), first_id(first) + limits::adopted_ids_ahead);
  EXPECT_EQ(load_log_epochs(*store.db).value(), (std::vector{first, second}));
}

TEST_F(LogEpochsTest, IdsThatJsonCannotCarryAreRefused) {
  constexpr int64_t far = int64_t{1} << 40;
  const auto refused = begin_log_epoch(*store.db, wall_time{far * 1'000'000}, *random);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ec::limit_reached);
  EXPECT_TRUE(load_log_epochs(*store.db).value().empty());
}

// limits::log_epochs_max
TEST_F(LogEpochsTest, SoManyAndNoMore) {
  std::vector<log_epoch> all;
  for (uint64_t i = 1; i < limits::log_epochs_max; ++i)
    all.push_back({i, i});
  const auto put = [&](uint64_t operations) {
    store.put_raw(encode_key(meta_key{log_epochs_row_name}),
                  encode_value(log_epochs_row{all}));
    for (uint64_t i = 0; i < operations; ++i)
      write(1);
  };
  put(limits::log_epochs_max / 2);
  EXPECT_EQ(adopt(autumn).first, store.writer->last_id() + 1);
  write(1);
  const auto refused
    = begin_log_epoch(*store.db, wall_time{(autumn + 9) * 1'000'000}, *random);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ec::limit_reached);
  EXPECT_EQ(load_log_epochs(*store.db).value().size(), limits::log_epochs_max);
}

TEST_F(LogEpochsTest, ADamagedRowIsFoundAndStopsAnAdoption) {
  write(1);
  const auto key = encode_key(meta_key{log_epochs_row_name});
  for (const auto& bad :
       {log_epochs_row{{{2, 9}, {2, 10}}}, log_epochs_row{{{2, 9}, {3, 9}}},
        log_epochs_row{{{0, 9}}}}) {
    store.put_raw(key, encode_value(bad));
    EXPECT_FALSE(load_log_epochs(*store.db));
    EXPECT_FALSE(begin_log_epoch(*store.db, wall_time{autumn * 1'000'000}, *random));
    EXPECT_NE(store.findings().find("an epoch of ids does not follow"),
              std::string::npos)
      << store.findings();
  }
  store.put_raw(key, encode_value(log_epochs_row{{{1'000, 9}}}));
  EXPECT_NE(store.findings().find("an epoch of ids begins behind the log"),
            std::string::npos)
    << store.findings();
}

} // namespace
} // namespace weir::storage

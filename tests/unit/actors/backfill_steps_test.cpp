#include "actors/backfill/limits.hpp"
#include "tests/unit/actors/backfill_fixture.hpp"

// How long a BACKFILL works before it lets other actors run.
namespace weir::tests {
namespace {

/// A clock that moves each time somebody looks at it.
class costly_clock final : public clock {
public:
  costly_clock(wall_time at, std::chrono::microseconds look)
    : at_(at), look_(look) {}

  steady_time steady_now() const noexcept override {
    return now_ = now_ + look_;
  }

  wall_time wall_now() const noexcept override { return at_; }

private:
  wall_time at_;
  std::chrono::microseconds look_;
  mutable steady_time now_;
};

class BackfillStepsTest : public BackfillShellTest {
protected:
  /// How often it let other actors run before all of a repo was compared.
  /// @param look The time that passes until it looks at the clock again.
  size_t runs(const test_repo& of, std::chrono::microseconds look) {
    size_t out = 0;
    const costly_clock busy{of.now(), look};
    start(of, {}, [&out] {
      ++out;
      return false;
    });
    shared->time = &busy;
    head(200);
    piece(of.export_car());
    out = 0;
    end();
    EXPECT_EQ(repo.count<repo_fetched>(), 1u);
    shared->time = &time;
    return out;
  }
};

} // namespace

// limits::import_quantum: when a step takes almost as long, each further one
// lets others run first; when it takes less, more of them follow each other
TEST_F(BackfillStepsTest, ItWorksForSoLongAndThenLetsOthersRun) {
  const auto of = repo_of(10 * limits::import_step_records_max);
  EXPECT_EQ(runs(of, 1us), 1u);
  const auto all = runs(of, limits::import_quantum - 1us);
  EXPECT_GE(all, 10u);
  EXPECT_EQ(runs(of, limits::import_quantum / 2), all);
  EXPECT_EQ(runs(of, limits::import_quantum / 2 - 1us), (all + 1) / 2);
}

// limits::import_step_records_max: a step that took as many ends, and the next
// one sees that there are no more
TEST_F(BackfillStepsTest, AStepTakesSoManyRecordsAndNotOneMore) {
  const auto steps = [this](size_t records) {
    return runs(repo_of(records), limits::import_quantum - 1us);
  };
  constexpr auto most = limits::import_step_records_max;
  const auto one = steps(1);
  EXPECT_EQ(steps(most - 1), one);
  EXPECT_EQ(steps(most), one + 1);
  EXPECT_EQ(steps(2 * most - 1), one + 1);
  EXPECT_EQ(steps(2 * most), one + 2);
}

} // namespace weir::tests

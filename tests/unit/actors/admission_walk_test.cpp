#include "tests/unit/actors/admitted_stream.hpp"

#include <algorithm>
#include <random>

// docs/actors.md, What a stream may deliver;
// docs/adr/0027-one-rule-of-admission.md
namespace weir::tests {
namespace {

/// Random events in any order.
class admission_walk {
public:
  explicit admission_walk(uint32_t seed)
    : random_(seed), rate_(draw(2) == 0 ? 0 : 1 + draw(40)),
      x_(window_, window_bytes_, rate_) {
    // nop
  }

  void step() {
    now_ = now_ + std::chrono::milliseconds{draw(60)};
    switch (draw(8)) {
      case 0:
      case 1:
      case 2:
        for (auto most = draw(5); most > 0 && x_.is_read(); --most)
          x_.read(draw(6) == 0 ? 1 + draw(3 * window_bytes_) : 1 + draw(9));
        break;
      case 3:
      case 4:
        for (size_t i = x_.flight.size(); i > 0; --i)
          if (draw(3) != 0)
            x_.finish(x_.seq + 1 - i);
        break;
      case 5:
        x_.machine.on_refused(draw(3), now_);
        break;
      case 6:
        x_.machine.on_room(room_ = draw(3) != 0);
        break;
      default:
        if (!open_)
          open();
        else if (draw(4) == 0)
          close();
    }
    x_.give(now_);
    look();
  }

  /// Ends everything that may be in the way: frames, room, a missing socket.
  /// Time passes only until the moment that the machine names.
  void end_all_waits() {
    for (uint64_t seq = 1; seq <= x_.seq; ++seq)
      x_.finish(seq);
    x_.machine.on_room(room_ = true);
    if (!open_)
      open();
    x_.give(now_);
    look();
    if (x_.machine.waits_for(now_) == admission_wait::rate && !x_.is_read()) {
      ASSERT_TRUE(x_.machine.wake_at());
      ASSERT_GT(*x_.machine.wake_at(), now_);
      now_ = *x_.machine.wake_at();
      x_.give(now_);
    }
    EXPECT_TRUE(x_.is_read());
    look();
  }

  size_t reads() const { return x_.seq; }

private:
  size_t draw(size_t below) { return random_() % below; }

  void open() {
    open_ = true;
    x_.frames = 0;
    x_.bytes = 0;
    x_.machine.on_open();
  }

  void close() {
    open_ = false;
    x_.frames = 0;
    x_.bytes = 0;
    x_.machine.on_closed();
  }

  void look() {
    const auto why = x_.machine.waits_for(now_);
    EXPECT_TRUE(x_.is_read() || why != admission_wait::none) << "it stops for good";
    EXPECT_TRUE(open_ || why == admission_wait::connection);
    EXPECT_TRUE(!open_ || room_ || why == admission_wait::room);
    EXPECT_TRUE(why != admission_wait::rate || rate_ > 0);
    EXPECT_TRUE(why != admission_wait::window || x_.flight.size() >= window_
                || x_.flight.bytes() >= window_bytes_);
    EXPECT_LE(x_.frames + x_.flight.size(), window_);
    EXPECT_LE(x_.bytes + static_cast<int64_t>(x_.flight.bytes()),
              static_cast<int64_t>(std::max(x_.flight.bytes(), window_bytes_)));
  }

  static constexpr size_t window_ = 24;
  static constexpr size_t window_bytes_ = 100;

  std::mt19937 random_;
  size_t rate_;
  admitted_stream x_;
  steady_time now_ = t0;
  bool open_ = true;
  bool room_ = true;
};

TEST(admission_machine, whatever_happens_a_stream_is_read_or_has_a_reason) {
  size_t reads = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    admission_walk x{seed};
    for (int i = 0; i < 300; ++i)
      x.step();
    x.end_all_waits();
    reads += x.reads();
    if (HasFailure())
      return;
  }
  EXPECT_GT(reads, 5'000u) << "or next to nothing was looked at";
}

} // namespace
} // namespace weir::tests

#pragma once

#include "net/event_loop.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace weir::tests {

/// A loop whose time moves only in `advance`. Only the test's thread uses it.
class manual_loop final : public net::event_loop {
public:
  void post(net::task x) override { tasks_.push_back(std::move(x)); }

  bool here() const noexcept override { return true; }

  std::unique_ptr<net::timer> make_timer() override {
    return std::make_unique<alarm>(*this);
  }

  steady_time now() const noexcept override { return now_; }

  /// Runs all tasks that are posted and all alarms that are due, until none is
  /// left.
  void run() {
    for (;;) {
      while (!tasks_.empty()) {
        auto next = std::move(tasks_.front());
        tasks_.pop_front();
        next();
      }
      if (alarms_.empty() || alarms_.begin()->first.first > now_)
        return;
      auto ring = alarms_.extract(alarms_.begin()).mapped();
      ring();
    }
  }

  /// Lets time pass and runs each alarm at its time.
  void advance(std::chrono::microseconds x) {
    const auto end = now_ + x;
    for (run(); !alarms_.empty() && alarms_.begin()->first.first <= end;) {
      now_ = std::max(now_, alarms_.begin()->first.first);
      run();
    }
    now_ = end;
    run();
  }

private:
  using key = std::pair<steady_time, uint64_t>;

  class alarm final : public net::timer {
  public:
    explicit alarm(manual_loop& loop) : loop_(loop) {
      // nop
    }

    ~alarm() override { cancel(); }

    void start(std::chrono::microseconds delay, net::task x) override {
      cancel();
      set_ = key{loop_.now_ + delay, ++loop_.last_};
      loop_.alarms_.emplace(*set_, std::move(x));
    }

    void cancel() noexcept override {
      if (set_)
        loop_.alarms_.erase(*set_);
      set_.reset();
    }

  private:
    manual_loop& loop_;
    std::optional<key> set_;
  };

  steady_time now_{1'000'000'000};
  std::deque<net::task> tasks_;
  std::map<key, net::task> alarms_;
  uint64_t last_ = 0;
};

} // namespace weir::tests

#pragma once

#include "tests/sim/timeline.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace weir::sim {

/// A loop of the simulated network. Its tasks run when the stepper chooses it.
class virtual_loop final : public net::event_loop {
public:
  virtual_loop(timeline& time, std::string name)
    : time_(time), name_(std::move(name)) {
    // nop
  }

  void post(net::task x) override {
    if (!ended_)
      tasks_.push_back(std::move(x));
  }

  bool here() const noexcept override { return running_; }

  std::unique_ptr<net::timer> make_timer() override {
    return std::make_unique<alarm>(*this);
  }

  steady_time now() const noexcept override { return time_.now(); }

  const std::string& name() const noexcept { return name_; }

  bool has_task() const noexcept { return !tasks_.empty(); }

  void run_one() {
    auto next = std::move(tasks_.front());
    tasks_.pop_front();
    running_ = true;
    next();
    running_ = false;
  }

  /// Drops the tasks that wait and all that are posted later.
  void end() {
    ended_ = true;
    while (!tasks_.empty()) {
      auto dropped = std::exchange(tasks_, {}); // May post; that is dropped.
    }
  }

private:
  class alarm final : public net::timer {
  public:
    explicit alarm(virtual_loop& loop) : loop_(loop) {
      // nop
    }

    ~alarm() override { cancel(); }

    void start(std::chrono::microseconds delay, net::task x) override {
      cancel();
      set_ = loop_.time_.set(loop_.now() + delay,
                             [this, x = std::move(x)]() mutable {
                               set_.reset();
                               fire(std::move(x));
                             });
    }

    void cancel() noexcept override {
      if (set_)
        loop_.time_.cancel(*set_);
      set_.reset();
      *alive_ = false;
      alive_ = std::make_shared<bool>(true);
    }

  private:
    /// Posts the task to the loop. It is dropped when the timer is cancelled
    /// before its turn.
    void fire(net::task x) {
      loop_.post([x = std::move(x), alive = alive_] {
        if (*alive)
          x();
      });
    }

    virtual_loop& loop_;
    std::optional<timeline::key> set_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  };

  timeline& time_;
  std::string name_;
  std::deque<net::task> tasks_;
  bool running_ = false;
  bool ended_ = false;
};

} // namespace weir::sim

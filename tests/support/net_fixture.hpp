#pragma once

#include "net/io_threads.hpp"
#include "net/transport.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace weir::tests {

using namespace std::chrono_literals;

/// How long a test waits for something that must happen before it fails.
constexpr auto patience = 60s;

/// A queue from io threads to a test, which takes each item with a deadline.
template <class T>
class inbox {
public:
  void push(T x) {
    std::lock_guard guard{mutex_};
    items_.push_back(std::move(x));
    arrived_.notify_all();
  }

  /// The next item, or nothing when none arrives in time.
  std::optional<T> pop(std::chrono::milliseconds timeout = patience) {
    std::unique_lock lock{mutex_};
    if (!arrived_.wait_for(lock, timeout, [this] {
          return !items_.empty();
        }))
      return std::nullopt;
    std::optional<T> x{std::move(items_.front())};
    items_.pop_front();
    return x;
  }

  size_t size() const {
    std::lock_guard guard{mutex_};
    return items_.size();
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<T> items_;
};

/// A test with real sockets on one io thread.
class NetFixture : public ::testing::Test {
protected:
  NetFixture() : network(net::make_system_transport(threads)) {
    threads.start();
  }

  /// Waits until everything posted so far has run.
  void settle() {
    inbox<bool> done;
    threads.post([&done] {
      done.push(true);
    });
    ASSERT_TRUE(done.pop());
  }

  net::io_threads threads;
  net::transport_ptr network;
};

} // namespace weir::tests

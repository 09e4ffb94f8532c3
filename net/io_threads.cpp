#include "net/io_threads.hpp"

#include "base/thread_name.hpp"
#include "net/asio_loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace weir::net {

namespace {

class asio_timer final : public timer {
public:
  explicit asio_timer(boost::asio::io_context& context) : timer_(context) {}

  void start(std::chrono::microseconds delay, task x) override {
    timer_.expires_after(delay);
    task_ = std::make_shared<task>(std::move(x));
    // A cancelled wait may have fired already: then the pointer is empty.
    timer_.async_wait(
      [weak = std::weak_ptr{task_}](const boost::system::error_code& error) {
        if (auto due = error ? nullptr : weak.lock())
          (*due)();
      });
  }

  void cancel() noexcept override {
    task_.reset();
    try {
      timer_.cancel();
    } catch (const boost::system::system_error&) {
      // The wait runs to its end and finds no task.
    }
  }

private:
  boost::asio::steady_timer timer_;
  std::shared_ptr<task> task_;
};

} // namespace

// -- asio_loop ----------------------------------------------------------------

std::unique_ptr<timer> asio_loop::make_timer() {
  return std::make_unique<asio_timer>(context_);
}

// -- io_threads ---------------------------------------------------------------

struct io_threads::impl {
  explicit impl(size_t count) : loops(count) {}

  std::vector<asio_loop> loops;
  std::vector<std::thread> threads;
  std::atomic<size_t> turn = 0;
};

io_threads::io_threads(size_t count) : impl_(std::make_unique<impl>(count)) {}

io_threads::~io_threads() {
  stop();
  join();
  // Work that never ran may hold objects of other loops: it is dropped first.
  for (auto& loop : impl_->loops)
    loop.drop_work();
}

void io_threads::start() {
  for (auto& loop : impl_->loops)
    impl_->threads.emplace_back([&context = loop.context()] {
      name_thread("net");
      auto guard = boost::asio::make_work_guard(context);
      context.run();
    });
}

void io_threads::stop() noexcept {
  for (auto& loop : impl_->loops)
    loop.context().stop();
}

void io_threads::finish() {
  for (auto& loop : impl_->loops)
    loop.post([&context = loop.context()] {
      context.stop();
    });
}

void io_threads::join() noexcept {
  for (auto& thread : impl_->threads)
    if (thread.joinable())
      thread.join();
}

void io_threads::post(task x) {
  impl_->loops.front().post(std::move(x));
}

size_t io_threads::size() const noexcept {
  return impl_->loops.size();
}

event_loop& io_threads::loop(size_t index) noexcept {
  return impl_->loops[index];
}

event_loop& io_threads::next_loop() noexcept {
  return impl_->loops[impl_->turn++ % impl_->loops.size()];
}

} // namespace weir::net

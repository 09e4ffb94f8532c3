#include "net/io_threads.hpp"

#include "base/process.hpp"
#include "net/asio_loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <sys/eventfd.h>

#include <atomic>
#include <system_error>
#include <thread>
#include <utility>
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

asio_loop::asio_loop() : alarm_(context_) {
  const auto descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0)
    throw std::system_error{errno, std::generic_category(), "eventfd"};
  alarm_.assign(descriptor);
  await_posts();
}

void asio_loop::post(task x) {
  if (here())
    return boost::asio::post(context_, std::move(x));
  bool first = false;
  {
    const std::lock_guard guard{mutex_};
    first = posts_.empty();
    posts_.push_back(std::move(x));
  }
  if (first)
    ::eventfd_write(alarm_.native_handle(), 1);
}

void asio_loop::await_posts() {
  alarm_.async_read_some(boost::asio::buffer(alarm_bytes_),
                         [this](const boost::system::error_code& error, size_t) {
                           if (!error)
                             run_posts();
                         });
}

void asio_loop::run_posts() {
  take_posts();
  for (auto& x : taken_) {
    if (context_.stopped())
      return;
    std::exchange(x, {})();
  }
  await_posts();
}

bool asio_loop::take_posts() {
  taken_.clear();
  const std::lock_guard guard{mutex_};
  std::swap(taken_, posts_);
  return !taken_.empty();
}

void asio_loop::drop_work() {
  context_.shutdown();
  do
    taken_.clear(); // What is destroyed may post more.
  while (take_posts());
}

std::unique_ptr<timer> asio_loop::make_timer() {
  return std::make_unique<asio_timer>(context_);
}

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

#include "tests/sim/virtual_stream.hpp"

#include "tests/support/heap_tag.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

/// The size of the kernels' buffers at both ends for one direction.
constexpr size_t buffered_max = 65'536;

} // namespace

virtual_stream::~virtual_stream() {
  if (const auto other = peer_.lock(); other && !closed_)
    other->fail_now(std::errc::connection_reset);
}

size_t virtual_stream::room() const noexcept {
  const auto held = incoming_.size() + under_way_;
  return held < buffered_max ? buffered_max - held : 0;
}

void virtual_stream::finish(net::io_handler& handler, std::error_code error,
                            size_t n) {
  if (handler)
    loop_.post([done = std::exchange(handler, nullptr), error, n,
                self = shared_from_this()] { done(error, n); });
}

// -- reading ------------------------------------------------------------------

void virtual_stream::read_some(std::span<uint8_t> into, net::io_handler done) {
  const tests::heap_scope outside{tests::heap_of_world};
  into_ = into;
  reader_ = std::move(done);
  serve_read();
}

void virtual_stream::serve_read() {
  if (!reader_)
    return;
  if (closed_)
    return finish(reader_, std::make_error_code(std::errc::operation_canceled),
                  0);
  if (!incoming_.empty()) {
    const auto n = std::min(into_.size(), incoming_.size());
    std::copy_n(incoming_.begin(), n, into_.begin());
    incoming_.erase(0, n);
    unread_since_.reset();
    if (!incoming_.empty())
      unread_since_ = net_.time().now();
    finish(reader_, {}, n);
    if (const auto other = peer_.lock())
      other->serve_write();
    return;
  }
  if (broken_)
    return finish(reader_, broken_, 0);
  if (ended_)
    finish(reader_, {}, 0);
}

void virtual_stream::deliver(parcel x) {
  if (closed_)
    return;
  under_way_ -= x.data.size();
  if (net_.to(server_).stalls) {
    under_way_ += x.data.size();
    ++net_.troubles_[server_].stalled;
    held_.push_back(std::move(x));
    return;
  }
  switch (x.what) {
    case parcel_kind::data:
      if (incoming_.empty())
        incoming_ = std::move(x.data);
      else
        incoming_ += x.data;
      if (!unread_since_)
        unread_since_ = net_.time().now();
      break;
    case parcel_kind::end:
      ended_ = true;
      break;
    case parcel_kind::reset:
      return fail_now(std::errc::connection_reset);
  }
  serve_read();
}

void virtual_stream::go_on() {
  for (auto& x : std::exchange(held_, {}))
    deliver(std::move(x));
}

// -- writing ------------------------------------------------------------------

void virtual_stream::write_some(std::span<const bytes_view> parts,
                                net::io_handler done) {
  const tests::heap_scope outside{tests::heap_of_world};
  outgoing_.clear();
  for (const auto part : parts)
    outgoing_ += as_text(part);
  if (net_.tap_)
    net_.tap_(loop_, server_, number_, outgoing_);
  writer_ = std::move(done);
  serve_write();
}

void virtual_stream::serve_write() {
  if (!writer_)
    return;
  if (closed_)
    return finish(writer_, std::make_error_code(std::errc::operation_canceled),
                  0);
  const auto other = peer_.lock();
  if (broken_ || !other)
    return finish(writer_, std::make_error_code(std::errc::broken_pipe), 0);
  const auto n = std::min(other->room(), outgoing_.size());
  if (n == 0 && !outgoing_.empty())
    return;
  other->under_way_ += n;
  send({parcel_kind::data, outgoing_.substr(0, n)});
  outgoing_.clear();
  finish(writer_, {}, n);
}

/// Sends data to the other end, in order.
void virtual_stream::send(parcel x) {
  const auto other = peer_.lock();
  if (!other)
    return;
  const auto& way = net_.to(server_);
  auto at = net_.time().now() + way.latency;
  if (way.bytes_per_second != 0) {
    net_.troubles_[server_].slowed += way.crawls ? 1 : 0;
    at = std::max(at, other->last_arrival_)
         + std::chrono::microseconds{x.data.size() * 1'000'000
                                     / way.bytes_per_second};
  }
  at = std::max(at, other->last_arrival_);
  other->last_arrival_ = at;
  net_.time().set(at, [weak = peer_, x = std::move(x)]() mutable {
    if (const auto self = weak.lock()) {
      if (!self->held_.empty())
        self->held_.push_back(std::move(x));
      else
        self->deliver(std::move(x));
    }
  });
}

void virtual_stream::shut_down() {
  const tests::heap_scope outside{tests::heap_of_world};
  if (!closed_ && !broken_)
    send({parcel_kind::end, {}});
}

// -- the end ------------------------------------------------------------------

void virtual_stream::close(bool reset) noexcept {
  if (std::exchange(closed_, true))
    return;
  const tests::heap_scope outside{tests::heap_of_world};
  send({reset || !incoming_.empty() ? parcel_kind::reset : parcel_kind::end,
        {}});
  const auto gone = std::make_error_code(std::errc::operation_canceled);
  finish(reader_, gone, 0);
  finish(writer_, gone, 0);
  if (const auto other = peer_.lock())
    other->serve_write(); // No data is read there.
}

void virtual_stream::fail_now(std::errc why) {
  const tests::heap_scope outside{tests::heap_of_world};
  if (broken_)
    return;
  broken_ = std::make_error_code(why);
  incoming_.clear();
  unread_since_.reset();
  held_.clear();
  finish(reader_, broken_, 0);
  finish(writer_, broken_, 0);
}

} // namespace weir::sim

#include "simnet/slow_bodies.hpp"

#include "atproto/car.hpp"

#include <algorithm>
#include <string>

namespace weir::simnet {

namespace {

constexpr std::chrono::milliseconds turn{100};
constexpr uint64_t turns_per_second = 10;

/// Size of one block.
constexpr size_t filling = 1'900;

/// Bytes that are made at a time when there is no rate.
constexpr uint64_t free_piece_bytes = 65'536;

uint64_t bytes_of_a_turn(uint64_t bytes_per_second) {
  return std::max<uint64_t>(bytes_per_second / turns_per_second, 1);
}

class paced_body final : public net::reply_rest {
public:
  paced_body(shared_bytes body, uint64_t bytes_per_second)
    : body_(std::move(body)), piece_(bytes_of_a_turn(bytes_per_second)) {}

  std::optional<uint64_t> size() const override { return body_.size(); }

  piece next() override {
    const auto n = std::min<size_t>(body_.size() - sent_, piece_);
    const auto part = body_.view().subspan(sent_, n);
    sent_ += n;
    return {bytes{part.begin(), part.end()}, turn};
  }

private:
  const shared_bytes body_;
  const uint64_t piece_;
  size_t sent_ = 0;
};

class unlinked_body final : public net::reply_rest {
public:
  unlinked_body(uint64_t bytes_per_second, std::optional<uint64_t> size,
                std::atomic<uint64_t>* sent)
    : rate_(bytes_per_second), size_(size), counter_(sent) {
    blocks_.take(); // The header of a CAR was sent already.
  }

  std::optional<uint64_t> size() const override { return size_; }

  piece next() override {
    auto wanted = rate_ == 0 ? free_piece_bytes : bytes_of_a_turn(rate_);
    if (size_)
      wanted = std::min(wanted, *size_ - sent_);
    while (ready_.size() < wanted)
      add_block();
    const auto end = ready_.begin() + static_cast<ptrdiff_t>(wanted);
    bytes out{ready_.begin(), end};
    ready_.erase(ready_.begin(), end);
    sent_ += wanted;
    if (counter_)
      *counter_ += wanted;
    return {std::move(out), rate_ == 0 ? std::chrono::milliseconds{0} : turn};
  }

private:
  /// A DAG-CBOR text that differs in every block.
  void add_block() {
    const auto number = std::to_string(++made_);
    bytes block{0x79, static_cast<uint8_t>(filling >> 8),
                static_cast<uint8_t>(filling & 0xff)};
    block.insert(block.end(), filling, ' ');
    std::ranges::copy(as_bytes(number), block.end() - number.size());
    blocks_.add(atproto::cid::of_dag_cbor(block), block);
    const auto section = blocks_.take();
    ready_.insert(ready_.end(), section.begin(), section.end());
  }

  const uint64_t rate_;
  const std::optional<uint64_t> size_;
  std::atomic<uint64_t>* const counter_;
  atproto::car_writer blocks_{{}};
  bytes ready_;
  uint64_t made_ = 0;
  uint64_t sent_ = 0;
};

} // namespace

std::shared_ptr<net::reply_rest> at_rate(shared_bytes body,
                                         uint64_t bytes_per_second) {
  return std::make_shared<paced_body>(std::move(body), bytes_per_second);
}

std::shared_ptr<net::reply_rest> unlinked_blocks(uint64_t bytes_per_second,
                                                 std::optional<uint64_t> size,
                                                 std::atomic<uint64_t>* sent) {
  return std::make_shared<unlinked_body>(bytes_per_second, size, sent);
}

} // namespace weir::simnet

#include "atproto/cbor_walk.hpp"
#include "atproto/frame.hpp"
#include "atproto/limits.hpp"
#include "base/limits.hpp"

#include <array>

namespace weir::atproto {

namespace {

using cbor::fault;

/// Walks one map strictly, except that keys may come in any order, and
/// remembers where the values of some of its keys are.
template <size_t N>
class map_scan : public cbor::null_visitor {
public:
  explicit map_scan(const std::array<std::string_view, N>& keys)
    : keys_(keys) {}

  /// Scans the item at the front of `x` and removes it from `x`.
  result<void> run(bytes_view& x) {
    constexpr cbor::walk_rules lenient{limits::frame_depth_max,
                                       cbor::key_order::unique, false};
    if (x.empty() || x.front() >> 5 != cbor::major_map)
      return fail(ec::malformed, "a frame is two maps");
    cbor::walker<map_scan> walk{x, lenient, *this};
    if (auto what = walk.run(); what != fault::none)
      return cbor::to_error(what, walk.position());
    x = x.subspan(walk.position());
    return {};
  }

  /// The integer value of a key; false when there is none.
  bool integer(size_t key, int64_t& out) const noexcept {
    cbor::item_head head;
    const auto* at = values_[key].data();
    if (at == nullptr
        || cbor::take_head(at, at + values_[key].size(), head) != fault::none
        || head.major > cbor::major_negative
        || head.value > static_cast<uint64_t>(INT64_MAX))
      return false;
    const auto n = static_cast<int64_t>(head.value);
    out = head.major == cbor::major_negative ? -1 - n : n;
    return true;
  }

  /// The text value of a key; empty when there is none.
  std::string_view text(size_t key) const noexcept {
    cbor::item_head head;
    const auto* at = values_[key].data();
    if (at == nullptr
        || cbor::take_head(at, at + values_[key].size(), head) != fault::none
        || head.major != cbor::major_text)
      return {};
    return as_text({at, static_cast<size_t>(head.value)});
  }

  void on_key(std::string_view key, bytes_view value) {
    if (depth_ != 1)
      return;
    for (size_t i = 0; i < N; ++i)
      if (keys_[i] == key)
        values_[i] = value;
  }

  void begin_array() { ++depth_; }

  void end_array() { --depth_; }

  void begin_map() { ++depth_; }

  void end_map(bytes_view) { --depth_; }

private:
  const std::array<std::string_view, N>& keys_;
  std::array<bytes_view, N> values_{};
  size_t depth_ = 0;
};

result<frame_kind> read_kind(bytes_view& frame) {
  enum : size_t { op, t };
  static constexpr std::array<std::string_view, 2> keys{"op", "t"};
  map_scan<2> header{keys};
  if (auto scanned = header.run(frame); !scanned)
    return scanned.error();
  int64_t code = 0;
  if (!header.integer(op, code))
    return fail(ec::malformed, "frame header without op");
  if (code == -1)
    return frame_kind::error;
  if (code != 1)
    return frame_kind::unknown;
  const auto name = header.text(t);
  if (name.empty())
    return fail(ec::malformed, "frame header without t");
  if (name == "#commit")
    return frame_kind::commit;
  if (name == "#identity")
    return frame_kind::identity;
  if (name == "#account")
    return frame_kind::account;
  if (name == "#sync")
    return frame_kind::sync;
  if (name == "#info")
    return frame_kind::info;
  return frame_kind::unknown;
}

} // namespace

result<frame_peek> peek_frame(bytes_view frame) {
  enum : size_t { seq, own_did, repo, rev, time };
  static constexpr std::array<std::string_view, 5> keys{"seq", "did", "repo",
                                                        "rev", "time"};
  if (frame.size() > limits::frame_bytes_max)
    return fail(ec::limit_reached, "frame too large");
  const auto kind = read_kind(frame);
  if (!kind)
    return kind.error();
  map_scan<5> payload{keys};
  if (auto scanned = payload.run(frame); !scanned)
    return scanned.error();
  if (!frame.empty())
    return fail(ec::malformed, "bytes behind a frame");
  frame_peek out;
  out.kind = *kind;
  if (int64_t n = 0;
      payload.integer(seq, n) && n > 0 && n <= limits::safe_integer_max)
    out.seq = n;
  out.did = payload.text(*kind == frame_kind::commit ? repo : own_did);
  out.rev = payload.text(rev);
  out.time = payload.text(time);
  return out;
}

} // namespace weir::atproto

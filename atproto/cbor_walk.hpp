#pragma once

#include "atproto/cbor_item.hpp"
#include "atproto/limits.hpp"

#include <algorithm>
#include <array>
#include <bit>

/// The one loop that implements strict DAG-CBOR. `validate` runs it with a
/// visitor that does nothing, `append_record_json` with one that writes.
namespace weir::atproto::cbor {

/// Checks that no key repeats in `map`, which was walked before.
fault check_unique_keys(bytes_view map) noexcept;

/// A visitor that does nothing; base of the others.
struct null_visitor {
  void on_integer(bool /*negative*/, uint64_t /*n*/) {}
  void on_bool(bool) {}
  void on_null() {}
  void on_double(double) {}
  void on_text(std::string_view) {}
  void on_bytes(bytes_view) {}
  /// Receives a binary CID.
  void on_link(bytes_view) {}
  /// `value` is the encoded value and everything behind it.
  void on_key(std::string_view /*key*/, bytes_view /*value*/) {}
  void begin_array() {}
  void end_array() {}
  void begin_map() {}
  /// `whole` is the encoded map.
  void end_map(bytes_view /*whole*/) {}
};

/// Walks the one item at the front of a buffer. It does not recurse or
/// allocate: open containers are in a fixed array. Time is linear in the input.
template <class Visitor>
class walker {
public:
  walker(bytes_view x, const walk_rules& rules, Visitor& visitor) noexcept
    : begin_(x.data()), at_(x.data()), end_(x.data() + x.size()), rules_(rules),
      visitor_(visitor) {
    rules_.depth_max = std::min(rules_.depth_max, limits::cbor_depth_hard_max);
  }

  /// The place where the item ended or where the fault was found.
  size_t position() const noexcept { return static_cast<size_t>(at_ - begin_); }

  fault run() {
    // The outermost item is the only one of its level.
    open_[0] = {begin_, nullptr, 0, 1, 1, false, false};
    auto what = fault::none;
    do {
      if (open_[depth_].is_map)
        what = take_key();
      if (what == fault::none)
        what = take_item();
      while (what == fault::none && depth_ > 0 && open_[depth_].left == 0)
        what = close();
    } while (what == fault::none && depth_ > 0);
    return what;
  }

private:
  /// A container of which some items are still to be read.
  struct level {
    const uint8_t* start; ///< Head of the container.
    const char* key;      ///< The last key that was read.
    size_t key_size;
    uint32_t size;
    uint32_t left; ///< Items, or entries of a map, still to be read.
    bool is_map;
    bool unsorted;

    std::string_view last_key() const noexcept { return {key, key_size}; }
  };

  fault take_item() {
    const auto* start = at_;
    --open_[depth_].left;
    item_head head;
    if (auto what = take_head(at_, end_, head); what != fault::none)
      return what;
    switch (head.major) {
      case major_unsigned:
      case major_negative:
        visitor_.on_integer(head.major == major_negative, head.value);
        return fault::none;
      case major_bytes: {
        bytes_view value;
        const auto what = take_bytes(at_, end_, head.value, value);
        if (what == fault::none)
          visitor_.on_bytes(value);
        return what;
      }
      case major_text: {
        std::string_view value;
        const auto what = take_text(at_, end_, head.value, value);
        if (what == fault::none)
          visitor_.on_text(value);
        return what;
      }
      case major_tag: {
        bytes_view value;
        const auto what = take_link(at_, end_, head.value, value);
        if (what == fault::none)
          visitor_.on_link(value);
        return what;
      }
      case major_array:
      case major_map:
        return open(start, head);
      default:
        return take_simple(head);
    }
  }

  fault take_simple(const item_head& head) {
    switch (head.info) {
      case simple_false:
      case simple_true:
        visitor_.on_bool(head.info == simple_true);
        return fault::none;
      case simple_null:
        visitor_.on_null();
        return fault::none;
      case simple_double:
        if (!rules_.allow_floats || !valid_double(head.value))
          return fault::bad_float;
        visitor_.on_double(std::bit_cast<double>(head.value));
        return fault::none;
      default:
        return fault::bad_simple;
    }
  }

  fault take_key() {
    auto& map = open_[depth_];
    std::string_view key;
    if (auto what = take_key_text(at_, end_, key); what != fault::none)
      return what;
    if (map.left != map.size && !key_less(map.last_key(), key)) {
      if (key == map.last_key())
        return fault::key_repeated;
      if (rules_.order == key_order::canonical)
        return fault::key_order;
      map.unsorted = true;
    }
    map.key = key.data();
    map.key_size = key.size();
    visitor_.on_key(key, {at_, end_});
    return fault::none;
  }

  fault open(const uint8_t* start, const item_head& head) {
    const bool is_map = head.major == major_map;
    if (head.value > static_cast<uint64_t>(end_ - at_) >> (is_map ? 1 : 0))
      return fault::too_long;
    if (head.value > limits::cbor_container_max)
      return fault::container_limit;
    if (depth_ == rules_.depth_max)
      return fault::depth_limit;
    const auto size = static_cast<uint32_t>(head.value);
    open_[++depth_] = {start, nullptr, 0, size, size, is_map, false};
    if (is_map)
      visitor_.begin_map();
    else
      visitor_.begin_array();
    return fault::none;
  }

  fault close() {
    const auto& done = open_[depth_--];
    if (!done.is_map) {
      visitor_.end_array();
      return fault::none;
    }
    const bytes_view whole{done.start, at_};
    if (done.unsorted && rules_.order == key_order::unique)
      if (auto what = check_unique_keys(whole); what != fault::none)
        return what;
    visitor_.end_map(whole);
    return fault::none;
  }

  const uint8_t* begin_;
  const uint8_t* at_;
  const uint8_t* end_;
  walk_rules rules_;
  Visitor& visitor_;
  size_t depth_ = 0;
  std::array<level, limits::cbor_depth_hard_max + 1> open_;
};

} // namespace weir::atproto::cbor

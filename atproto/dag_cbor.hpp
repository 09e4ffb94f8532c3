#pragma once

#include "atproto/cid.hpp"
#include "atproto/limits.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Strict DAG-CBOR (DRISL), protocol-coverage.md 6. Iterative and bounded:
/// hostile
/// input costs at most time linear in its size and a fixed amount of memory.
namespace weir::atproto::cbor {

/// What strictness a decoder applies beyond well-formedness.
struct rules {
  /// Containers inside each other; at most `limits::cbor_depth_hard_max`.
  size_t depth_max = limits::cbor_depth_default;
  /// Frames from other stacks: any order, but still no key twice, and at most
  /// `limits::cbor_unsorted_entries_max` entries in a map out of order.
  bool canonical_order = true;
  bool allow_floats = false; ///< 64-bit, finite and not -0.0, when allowed.
};

/// Checks one whole item and nothing behind it. Does not allocate, except for
/// the text of an error. Integers may take the whole range of CBOR; `read_int`
/// and JSON are narrower (protocol-coverage.md 6.1).
///
/// # Errors
/// `ec::malformed`, or `ec::limit_reached` for depth, elements of a container
/// and length of a key.
result<void> validate(bytes_view x, const rules& r = {});

/// Length of the one item at the front of `x` after checking it.
result<size_t> validate_prefix(bytes_view x, const rules& r = {});

enum class kind : uint8_t {
  unsigned_int,
  negative_int,
  byte_string,
  text_string,
  array,
  map,
  link,
  boolean,
  null,
  floating
};

/// Pull reader over one buffer that `validate` accepted (or that it checks on
/// the way: every read checks form and bounds, order is checked by validate).
///
/// # Ownership and threads
/// Borrows the bytes; strings and spans returned point into them.
///
/// # Errors
/// `ec::malformed`. After an error the position is unspecified.
class reader {
public:
  explicit reader(bytes_view x) noexcept : all_(x) {
    // nop
  }

  bool at_end() const noexcept { return at_ == all_.size(); }

  size_t position() const noexcept { return at_; }

  bytes_view rest() const noexcept { return all_.subspan(at_); }

  /// Kind of the next item without consuming it.
  result<kind> peek() const;

  /// Any integer that fits int64 (protocol-coverage.md 6.1).
  result<int64_t> read_int();

  result<bool> read_bool();

  result<void> read_null();

  /// True and consumed when the next item is null.
  bool try_null() noexcept;

  /// Checked to be valid UTF-8.
  result<std::string_view> read_text();

  result<bytes_view> read_bytes();

  /// Tag 42.
  result<cid> read_link();

  result<double> read_double();

  /// Number of elements; the caller reads them. Never more than the bytes left
  /// can hold, nor than `limits::cbor_container_max`.
  result<size_t> read_array();

  /// Number of entries; the caller reads key (text) and value alternately.
  /// Bounded like `read_array`.
  result<size_t> read_map();

  /// Skips one item of any kind, iteratively; returns its bytes.
  result<bytes_view> skip(size_t depth_max = limits::cbor_depth_default);

private:
  result<size_t> read_count(uint8_t major, size_t item_bytes_min);

  /// Takes the head of an item that must have major type `major`.
  result<uint64_t> take(uint8_t major);

  bytes_view all_;
  size_t at_ = 0;
};

/// Canonical encoder. The caller writes map entries in canonical order (by
/// length of the key, then bytes); `key_less` gives that order.
class writer {
public:
  writer& put_int(int64_t x);
  writer& put_bool(bool x);
  writer& put_null();
  writer& put_text(std::string_view x);
  writer& put_bytes(bytes_view x);
  writer& put_link(const cid& x);
  writer& put_double(double x);
  writer& begin_array(size_t n);
  writer& begin_map(size_t n);
  /// Appends bytes that are one encoded item already.
  writer& put_raw(bytes_view item);

  const bytes& data() const noexcept { return out_; }

  bytes take() noexcept { return std::move(out_); }

  void clear() noexcept { out_.clear(); }

private:
  void put_head(uint8_t major, uint64_t n);

  bytes out_;
};

/// Order of map keys in DAG-CBOR: shorter first, then bytewise.
inline bool key_less(std::string_view x, std::string_view y) noexcept {
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

} // namespace weir::atproto::cbor

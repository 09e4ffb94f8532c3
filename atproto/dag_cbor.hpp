#pragma once

#include "atproto/cid.hpp"
#include "atproto/limits.hpp"

#include <string_view>

/// Strict DAG-CBOR, in the profile DRISL (protocol-coverage.md 6). All calls
/// are iterative and bounded: hostile input costs at most linear time and a
/// fixed amount of memory.
namespace weir::atproto::cbor {

/// How strict a decoder is beyond well-formedness.
struct rules {
  /// How deep containers may be nested; at most `limits::cbor_depth_hard_max`.
  size_t depth_max = limits::cbor_depth_default;
  /// False for frames, which other implementations write in another order. Then
  /// keys may come in any order, but none twice, and at most
  /// `limits::cbor_unsorted_entries_max` entries of a map may be out of order.
  bool canonical_order = true;
  /// Allowed are only 64-bit floats that are finite and not -0.0.
  bool allow_floats = false;
};

/// Checks that `x` is exactly one item. Allocates only the text of an error.
/// Integers may take the whole range of CBOR; `read_int` and JSON accept less
/// (protocol-coverage.md 6.1).
///
/// # Errors
/// `ec::malformed`, or `ec::limit_reached` for the depth, the size of a
/// container or the length of a key.
result<void> validate(bytes_view x, const rules& r = {});

/// Checks the one item at the front of `x` and returns its length.
result<size_t> validate_prefix(bytes_view x, const rules& r = {});

/// Reads items one after the other from a buffer that `validate` accepted. On
/// other buffers it is safe as well, since every read checks form and bounds;
/// only the order of keys is not checked.
///
/// # Ownership and threads
/// Borrows the bytes. The strings and spans that it returns point into them.
///
/// # Errors
/// `ec::malformed`. After an error the position is unspecified.
class reader {
public:
  explicit reader(bytes_view x) noexcept : all_(x) {}

  bool at_end() const noexcept { return at_ == all_.size(); }

  size_t position() const noexcept { return at_; }

  bytes_view rest() const noexcept { return all_.subspan(at_); }

  /// Reads an integer that fits into int64 (protocol-coverage.md 6.1).
  result<int64_t> read_int();

  result<bool> read_bool();

  /// Takes the next item and returns true when it is null.
  bool try_null() noexcept;

  /// Reads a text, which is checked to be valid UTF-8.
  result<std::string_view> read_text();

  result<bytes_view> read_bytes();

  /// Reads a link (tag 42).
  result<cid> read_link();

  /// Reads the head of an array and returns the number of elements, which the
  /// caller then reads. It is at most what the remaining bytes can hold, and at
  /// most `limits::cbor_container_max`.
  result<size_t> read_array();

  /// Reads the head of a map and returns the number of entries. The caller then
  /// reads a text key and a value in turn. Bounded like `read_array`.
  result<size_t> read_map();

  /// Skips one item of any kind and returns its bytes.
  result<bytes_view> skip(size_t depth_max = limits::cbor_depth_default);

private:
  result<size_t> read_count(uint8_t major, size_t item_bytes_min);

  /// Takes the head of the next item, which must have major type `major`.
  result<uint64_t> take(uint8_t major);

  bytes_view all_;
  size_t at_ = 0;
};

/// Canonical encoder. The caller adds map entries in canonical order, which
/// `key_less` defines: by length of the key, then by bytes.
class writer {
public:
  writer& put_int(int64_t x);
  writer& put_bool(bool x);
  writer& put_null();
  writer& put_text(std::string_view x);
  writer& put_bytes(bytes_view x);
  writer& put_link(const cid& x);
  writer& put_link_or_null(const cid& x); ///< Null when it is undefined.
  writer& put_double(double x);
  writer& begin_array(size_t n);
  writer& begin_map(size_t n);
  /// Appends bytes that already are one encoded item.
  writer& put_raw(bytes_view item);

  const bytes& data() const noexcept { return out_; }

  bytes take() noexcept { return std::move(out_); }

  void clear() noexcept { out_.clear(); }

private:
  void put_head(uint8_t major, uint64_t n);

  bytes out_;
};

/// Order of map keys in DAG-CBOR: shorter keys first, then bytewise.
inline bool key_less(std::string_view x, std::string_view y) noexcept {
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

} // namespace weir::atproto::cbor

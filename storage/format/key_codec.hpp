#pragma once

#include "atproto/cid.hpp"
#include "atproto/identifiers.hpp"
#include "base/error.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

/// Encodes the parts of a key so that the order of the bytes is the order of
/// the parts. `keys.hpp` has the tables. docs/storage-format.md 2 describes the
/// same for other readers.
namespace weir::storage {

/// First byte of every key. The numbers are on disk: append, never renumber.
/// docs/storage-format.md 2 names those that are kept free. Each table stands
/// in the list `table_names` of key_codec.cpp as well; rows of one that does
/// not are stray rows for `weir verify`.
enum class table : uint8_t {
  meta = 0x01,
  configuration = 0x02,
  collection_name = 0x08,
  collection_id = 0x09,
  log_block = 0x10,
  content_block = 0x11,
  stream_block = 0x12,
  chain = 0x13,
  record_head = 0x14,
  collection_member = 0x15,
  content_reference = 0x16,
  time_index = 0x17,
  kept_content = 0x1a,
  repo = 0x30,
  repo_by_status = 0x31,
  member = 0x33,
  sync_buffer = 0x34,
  identity = 0x36,
  erasure = 0x37,
  exported = 0x38,
  upstream = 0x40,
  listing = 0x42,
  consumer = 0x50,
  acked = 0x51,
  dead_letter = 0x52,
};

/// Whether the format has a table of this number.
bool is_table(table x) noexcept;

/// Name of a table in errors and in `weir verify`. Never null.
const char* to_string(table x) noexcept;

/// A record key inside a storage key, where it is always the last part: tag 1
/// and 8 bytes for a canonical TID, otherwise tag 2 and the text. So all TIDs
/// of a collection come first, in order of time, then all other keys in byte
/// order.
struct record_key {
  std::string text;

  bool operator==(const record_key&) const = default;
};

/// The two tags of a record key. Each begins one of the two sorted parts of a
/// collection.
constexpr uint8_t tid_key_tag = 1;
constexpr uint8_t text_key_tag = 2;

/// The first half of a SHA-256, which is enough to address content.
using short_hash = std::array<uint8_t, 16>;

/// @returns the first 16 bytes of the digest of a blessed CID, or else of the
/// SHA-256 over the CID. The codec is ignored, since equal bytes are equal
/// content.
short_hash short_hash_of(const atproto::cid& x);

/// A half-open range of keys. An empty `end` means no upper bound.
struct key_range {
  std::string begin;
  std::string end;

  bool operator==(const key_range&) const = default;
};

/// Appends parts to a key.
class key_writer {
public:
  explicit key_writer(std::string& out) noexcept : out_(out) {}

  /// Big-endian.
  template <std::unsigned_integral T>
  void put(T x) {
    for (size_t i = sizeof(T); i-- > 0;)
      out_.push_back(static_cast<char>(x >> (8 * i)));
  }

  void put(atproto::tid x) { put(x.value()); }

  void put(const atproto::did& x);
  void put(const short_hash& x);
  void put(const std::string& x); ///< Written with escapes and a terminator.
  void put(const record_key& x);

  template <class T>
  requires std::is_enum_v<T>
  void put(T x) { put(static_cast<std::underlying_type_t<T>>(x)); }

private:
  std::string& out_;
};

/// Reads the parts of a key. Each `get` returns false when `key_writer` cannot
/// have written the bytes; the value is then unspecified.
class key_reader {
public:
  explicit key_reader(std::string_view x) noexcept : rest_(x) {}

  template <std::unsigned_integral T>
  bool get(T& x) noexcept {
    std::string_view part;
    if (!take(sizeof(T), part))
      return false;
    uint64_t out = 0;
    for (const char c : part)
      out = out << 8 | static_cast<uint8_t>(c);
    x = static_cast<T>(out);
    return true;
  }

  bool get(atproto::tid& x) noexcept;
  bool get(atproto::did& x);
  bool get(short_hash& x) noexcept;
  bool get(std::string& x);
  bool get(record_key& x);

  template <class T>
  requires std::is_enum_v<T>
  bool get(T& x) noexcept {
    std::underlying_type_t<T> number{};
    const bool ok = get(number);
    x = static_cast<T>(number);
    return ok;
  }

  bool at_end() const noexcept { return rest_.empty(); }

  /// The bytes that are not read yet.
  std::string_view rest() const noexcept { return rest_; }

private:
  bool take(size_t n, std::string_view& out) noexcept;

  std::string_view rest_;
};

/// The smallest key above all keys that begin with `prefix`.
std::string prefix_end(std::string prefix);

/// The smallest key above `key`, where the page after one that ends with `key`
/// begins.
inline std::string key_after(std::string key) {
  key.push_back('\0');
  return key;
}

/// An `ec::storage_failure` that names the table.
error bad_key(table x);

} // namespace weir::storage

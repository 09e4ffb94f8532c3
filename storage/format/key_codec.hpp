#pragma once

#include "atproto/cid.hpp"
#include "atproto/identifiers.hpp"
#include "base/error.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

/// How the parts of a key become bytes whose order is the order of the parts.
/// The tables themselves are in `keys.hpp`; docs/storage-format.md 2 is the
/// same text for people who write a second reader.
namespace weir::storage {

/// First byte of every key. The numbers are on disk: append, never renumber.
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
  operation_dedup = 0x18,
  tombstone = 0x19,
  content_state = 0x20,
  missing = 0x21,
  waiter = 0x22,
  repo = 0x30,
  repo_by_status = 0x31,
  timeline = 0x32,
  member = 0x33,
  sync_buffer = 0x34,
  handle = 0x35,
  identity = 0x36,
  erasure = 0x37,
  exported = 0x38,
  upstream = 0x40,
  host = 0x41,
  listing = 0x42,
  consumer = 0x50,
  acked = 0x51,
  dead_letter = 0x52,
  quarantine = 0x60,
  audit = 0x61,
  usage = 0x62,
  index_metadata = 0x70,
  index_entry = 0x71,
};

/// Name of a table as it stands in errors and in `weir verify`. Never null.
const char* to_string(table x) noexcept;

/// A record key inside a storage key, always the last part: tag 1 and 8 bytes
/// for a canonical TID, else tag 2 and the text. So all TIDs of a collection
/// come first, in order of time, then all other keys in byte order.
struct record_key {
  std::string text;

  bool operator==(const record_key&) const = default;
};

/// Smallest and one past the largest tag of a record key: bounds of the two
/// sorted sub-ranges of a collection.
constexpr uint8_t tid_key_tag = 1;
constexpr uint8_t text_key_tag = 2;

/// First half of a SHA-256: enough to address content.
using short_hash = std::array<uint8_t, 16>;

/// Of a CID: first 16 bytes of its digest, or of the SHA-256 over the CID when
/// it is not blessed. The codec does not count: equal bytes are equal content.
short_hash short_hash_of(const atproto::cid& x);

/// Half-open range of keys. An empty `end` means no bound.
struct key_range {
  std::string begin;
  std::string end;

  bool operator==(const key_range&) const = default;
};

/// Appends parts to a key.
class key_writer {
public:
  explicit key_writer(std::string& out) noexcept : out_(out) {
    // nop
  }

  void put(uint8_t x);
  void put(uint16_t x);
  void put(uint32_t x);
  void put(uint64_t x);
  void put(atproto::tid x);
  void put(const atproto::did& x);
  void put(const short_hash& x);
  void put(const std::string& x); ///< Escaped and terminated.
  void put(const record_key& x);

  template <class T>
  requires std::is_enum_v<T>
  void put(T x) { put(static_cast<std::underlying_type_t<T>>(x)); }

private:
  std::string& out_;
};

/// Takes parts off a key. Each `get` is false when the bytes cannot have been
/// written by `key_writer`; the value is unspecified then.
class key_reader {
public:
  explicit key_reader(std::string_view x) noexcept : rest_(x) {
    // nop
  }

  bool get(uint8_t& x) noexcept;
  bool get(uint16_t& x) noexcept;
  bool get(uint32_t& x) noexcept;
  bool get(uint64_t& x) noexcept;
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

  /// What has not been taken yet.
  std::string_view rest() const noexcept { return rest_; }

private:
  bool take(size_t n, std::string_view& out) noexcept;

  std::string_view rest_;
};

/// The smallest key above every key that begins with `prefix`.
std::string prefix_end(std::string prefix);

/// The smallest key above `key`: where a page that ended with it goes on.
inline std::string key_after(std::string key) {
  key.push_back('\0');
  return key;
}

/// `ec::storage_failure` that names the table.
error bad_key(table x);

} // namespace weir::storage

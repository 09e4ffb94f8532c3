#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace weir::atproto {

// Syntax checks (protocol-coverage.md 0). They look only at the form.

/// `did:method:id` with any method, of at most `limits::did_bytes_max` bytes.
bool valid_did(std::string_view x) noexcept;

/// True for the two supported methods: did:plc with 24 base32 characters, and
/// did:web with a host name (`localhost%3A<port>` is accepted, too).
bool supported_did(std::string_view x) noexcept;

bool valid_nsid(std::string_view x) noexcept;

bool valid_record_key(std::string_view x) noexcept;

/// True for a handle in any case and with any top-level domain except the
/// denied ones. `.test` is accepted; `handle.invalid` is not.
bool valid_handle(std::string_view x) noexcept;

/// True for `<NSID>/<record key>`, the form of a key in the MST.
bool valid_repo_path(std::string_view x) noexcept;

/// Parses RFC 3339 as atproto restricts it. The moment must exist: no month 13,
/// no 30 February, no leap second, nothing before year 0 in UTC. Digits finer
/// than a microsecond are cut off.
std::optional<wall_time> parse_datetime(std::string_view x) noexcept;

/// A decentralized identifier whose syntax was checked.
class did {
public:
  did() = default;

  static result<did> parse(std::string_view x);

  /// Wraps a text that was checked before, for example one from the store.
  static did trusted(std::string x) {
    did out;
    out.text_ = std::move(x);
    return out;
  }

  const std::string& str() const noexcept { return text_; }

  bool empty() const noexcept { return text_.empty(); }

  friend auto operator<=>(const did&, const did&) = default;

private:
  std::string text_;
};

/// A 64-bit hash of a DID for routing and for sets of tracked repos: XXH64 with
/// seed 0. It decides where a DID belongs, so it is the same on every machine
/// and in every version. Do not use it for tables that an attacker can fill.
uint64_t stable_hash(std::string_view x) noexcept;

/// A timestamp identifier: 53 bits of microseconds since 1970 and 10 bits of
/// clock id. Numeric order equals the byte order of the text
/// (protocol-coverage.md 0.1).
class tid {
public:
  tid() = default;

  explicit constexpr tid(uint64_t value) noexcept : value_(value) {}

  static constexpr tid from_time(wall_time t, uint16_t clock_id) noexcept {
    return tid{(static_cast<uint64_t>(t.micros) << 10) | (clock_id & 0x3ffu)};
  }

  static std::optional<tid> parse(std::string_view x) noexcept;

  std::string str() const;

  constexpr uint64_t value() const noexcept { return value_; }

  constexpr wall_time time() const noexcept {
    return {static_cast<int64_t>(value_ >> 10)};
  }

  constexpr bool defined() const noexcept { return value_ != 0; }

  friend constexpr auto operator<=>(const tid&, const tid&) = default;

private:
  uint64_t value_ = 0;
};

/// A `collection/rkey` path split at its only slash. Borrows the path.
struct path_parts {
  std::string_view collection;
  std::string_view rkey;
};

/// @pre `valid_repo_path(path)`
path_parts split_path(std::string_view path) noexcept;

} // namespace weir::atproto

template <>
struct std::hash<weir::atproto::did> {
  size_t operator()(const weir::atproto::did& x) const noexcept {
    return static_cast<size_t>(weir::atproto::stable_hash(x.str()));
  }
};

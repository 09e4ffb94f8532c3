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

// Syntax checks of protocol-coverage.md 0. They look at form only.

/// `did:method:id`; any method. At most `limits::did_bytes_max`.
bool valid_did(std::string_view x) noexcept;

/// Blessed methods: did:plc with 24 base32 characters, or did:web with a
/// handle-like host name (`localhost%3A<port>` is a form too).
bool supported_did(std::string_view x) noexcept;

bool valid_nsid(std::string_view x) noexcept;

bool valid_record_key(std::string_view x) noexcept;

/// A syntactically valid handle, any case, any TLD but the denied ones;
/// `.test` is valid, `handle.invalid` is not a handle.
bool valid_handle(std::string_view x) noexcept;

/// `<NSID>/<record key>`, as an MST key.
bool valid_repo_path(std::string_view x) noexcept;

/// RFC 3339 as atproto restricts it, and a moment that exists: no month 13, no
/// 30 February, no leap second, nothing before year 0 in UTC. What is finer than
/// a microsecond is cut off.
std::optional<wall_time> parse_datetime(std::string_view x) noexcept;

/// A decentralized identifier whose syntax was checked.
class did {
public:
  did() = default;

  static result<did> parse(std::string_view x);

  /// Wraps text that was checked before, e.g. a stored one.
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

/// Stable 64-bit hash of a DID: routing and tracked sets. Same on every
/// machine and version, because it decides placement: XXH64 with seed 0.
/// Not for tables that an attacker fills.
uint64_t stable_hash(std::string_view x) noexcept;

/// A timestamp identifier: 53 bits of microseconds, 10 bits of clock id.
/// Numeric order equals byte order of the text (protocol-coverage.md 0).
class tid {
public:
  tid() = default;

  explicit constexpr tid(uint64_t value) noexcept : value_(value) {
    // nop
  }

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

/// `collection/rkey` split at its only slash. Borrows the path.
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

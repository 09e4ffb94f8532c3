#pragma once

#include "base/position.hpp"
#include "storage/key_codec.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

/// cereal archives over plain bytes, for the codecs of values only.
///
/// # Layout
/// Unsigned integers are LEB128 in their shortest form, signed ones are
/// zigzag-mapped first; a byte and a bool are one byte; strings and vectors
/// carry their length in front, arrays do not. A TID is 8 bytes big-endian, a
/// DID is as in keys. Checksums are 4 bytes little-endian.
namespace weir::storage {

/// Thrown by `byte_input` on bytes that no `byte_output` makes. It stays
/// inside the codecs: `guarded` turns it into an error.
struct bad_value : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr uint64_t zigzag(int64_t x) noexcept {
  return static_cast<uint64_t>(x) << 1 ^ static_cast<uint64_t>(x >> 63);
}

constexpr int64_t unzigzag(uint64_t x) noexcept {
  return static_cast<int64_t>(x >> 1 ^ (~(x & 1) + 1));
}

class byte_output
  : public cereal::OutputArchive<byte_output, cereal::AllowEmptyClassElision> {
public:
  byte_output() : OutputArchive(this) {
    // nop
  }

  void put_varint(uint64_t x) {
    while (x >= 0x80) {
      data.push_back(static_cast<char>(x | 0x80));
      x >>= 7;
    }
    data.push_back(static_cast<char>(x));
  }

  void put_raw(const void* x, size_t size) {
    data.append(static_cast<const char*>(x), size);
  }

  void put_fixed32(uint32_t x) {
    for (int i = 0; i < 4; ++i)
      data.push_back(static_cast<char>(x >> (8 * i)));
  }

  std::string data;
};

class byte_input
  : public cereal::InputArchive<byte_input, cereal::AllowEmptyClassElision> {
public:
  explicit byte_input(std::string_view x) : InputArchive(this), rest(x) {
    // nop
  }

  std::string_view take(size_t n) {
    if (rest.size() < n)
      throw bad_value{"it ends early"};
    const auto out = rest.substr(0, n);
    rest.remove_prefix(n);
    return out;
  }

  uint8_t take_byte() {
    return static_cast<uint8_t>(take(1)[0]);
  }

  uint64_t take_varint() {
    uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = take_byte();
      const auto bits = static_cast<uint64_t>(byte & 0x7f);
      if (bits << shift >> shift != bits || (byte == 0 && shift != 0))
        break;
      out |= bits << shift;
      if (byte < 0x80)
        return out;
    }
    throw bad_value{"a number is too long"};
  }

  /// A number of things of at least one byte each: what follows bounds it.
  size_t take_count() {
    const auto out = take_varint();
    if (out > rest.size())
      throw bad_value{"a length is too large"};
    return static_cast<size_t>(out);
  }

  uint32_t take_fixed32() {
    uint32_t out = 0;
    const auto x = take(4);
    for (size_t i = 0; i < 4; ++i)
      out |= static_cast<uint32_t>(static_cast<uint8_t>(x[i])) << (8 * i);
    return out;
  }

  void expect_end() const {
    if (!rest.empty())
      throw bad_value{"bytes follow its end"};
  }

  std::string_view rest;
};

// -- what cereal calls; it finds these by the archive's namespace -------------

template <class T>
  requires std::is_arithmetic_v<T>
void save(byte_output& ar, const T& x) {
  static_assert(std::is_integral_v<T>, "no value holds a float");
  if constexpr (sizeof(T) == 1)
    ar.data.push_back(static_cast<char>(x));
  else if constexpr (std::is_signed_v<T>)
    ar.put_varint(zigzag(x));
  else
    ar.put_varint(x);
}

template <class T>
  requires std::is_arithmetic_v<T>
void load(byte_input& ar, T& x) {
  if constexpr (sizeof(T) == 1) {
    const auto byte = ar.take_byte();
    if (std::is_same_v<T, bool> && byte > 1)
      throw bad_value{"a flag is neither 0 nor 1"};
    x = static_cast<T>(byte);
  } else {
    const auto wide = ar.take_varint();
    if constexpr (std::is_signed_v<T>) {
      const auto number = unzigzag(wide);
      x = static_cast<T>(number);
      if (x != number)
        throw bad_value{"a number is too large"};
    } else {
      x = static_cast<T>(wide);
      if (x != wide)
        throw bad_value{"a number is too large"};
    }
  }
}

template <class T>
void save(byte_output& ar, const cereal::SizeTag<T>& x) {
  ar.put_varint(x.size);
}

template <class T>
void load(byte_input& ar, cereal::SizeTag<T>& x) {
  x.size = ar.take_count();
}

template <class T>
void save(byte_output& ar, const cereal::BinaryData<T>& x) {
  ar.put_raw(x.data, static_cast<size_t>(x.size));
}

template <class T>
void load(byte_input& ar, cereal::BinaryData<T>& x) {
  const auto from = ar.take(static_cast<size_t>(x.size));
  if (!from.empty())
    std::memcpy(x.data, from.data(), from.size());
}

void save(byte_output& ar, const atproto::tid& x);
void load(byte_input& ar, atproto::tid& x);
void save(byte_output& ar, const atproto::did& x);
void load(byte_input& ar, atproto::did& x);
void save(byte_output& ar, const atproto::cid& x);
void load(byte_input& ar, atproto::cid& x);

template <class Archive>
void serialize(Archive& ar, position& x) {
  ar(x.upstream, x.epoch, x.seq);
}

/// Format byte of every value so far.
constexpr uint8_t value_format = 1;

/// Reads a whole value with `read(byte_input&)`; every failure names the
/// table.
template <class Row, class Read>
result<Row> guarded(std::string_view value, table in, Read read) {
  try {
    byte_input ar{value};
    if (ar.take_byte() != value_format)
      throw bad_value{"its format is unknown"};
    Row out{};
    read(ar, out);
    ar.expect_end();
    return out;
  } catch (const std::exception& x) {
    return fail(ec::storage_failure, std::string{"a value of the table "}
                                       + to_string(in)
                                       + " is damaged: " + x.what());
  }
}

} // namespace weir::storage

CEREAL_SETUP_ARCHIVE_TRAITS(weir::storage::byte_input,
                            weir::storage::byte_output)

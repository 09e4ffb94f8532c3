#pragma once

#include "base/position.hpp"
#include "storage/format/byte_codec.hpp"
#include "storage/format/key_codec.hpp"

#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include <cstring>
#include <exception>

/// cereal archives over plain bytes, only for the codecs of values.
///
/// # Layout
/// As in `byte_codec.hpp`. A byte and a bool are one byte. Strings and vectors
/// begin with their length, arrays do not. A TID is 8 bytes big-endian; a DID
/// is written as in keys.
namespace weir::storage {

class byte_output
  : public byte_sink,
    public cereal::OutputArchive<byte_output, cereal::AllowEmptyClassElision> {
public:
  byte_output() : OutputArchive(this) {}
};

class byte_input
  : public byte_source,
    public cereal::InputArchive<byte_input, cereal::AllowEmptyClassElision> {
public:
  explicit byte_input(std::string_view x)
    : byte_source(x), InputArchive(this) {}
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

/// The format byte of all values.
constexpr uint8_t value_format = 1;

/// Reads a whole value with `read(byte_input&)`. Every failure becomes an error
/// that names the table.
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

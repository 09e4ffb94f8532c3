#pragma once

#include "base/bytes.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Text encodings that the protocol uses. Decoders are strict: they refuse
/// foreign characters, wrong case, wrong padding and non-zero trailing bits.
namespace weir::atproto {

/// RFC 4648 base32 in lower case without padding.
void append_base32(bytes_view x, std::string& out);

/// Number of letters that encode `n` bytes.
constexpr size_t base32_size(size_t n) noexcept {
  return (n * 8 + 4) / 5;
}

/// Writes `base32_size(x.size())` letters. @returns the end of them.
char* write_base32(bytes_view x, char* out) noexcept;

std::optional<bytes> decode_base32(std::string_view x);

/// Base58 with the Bitcoin alphabet. Input longer than
/// `limits::base58_bytes_max` encodes to an empty text and decodes to nothing.
std::string encode_base58(bytes_view x);
std::optional<bytes> decode_base58(std::string_view x);

/// RFC 4648 base64 with the standard alphabet. Writes no padding and accepts
/// it.
void append_base64(bytes_view x, std::string& out);

/// Number of letters that encode `n` bytes, without padding.
constexpr size_t base64_size(size_t n) noexcept {
  return (n * 8 + 5) / 6;
}

/// Writes `base64_size(x.size())` letters. @returns the end of them.
char* write_base64(bytes_view x, char* out) noexcept;

std::optional<bytes> decode_base64(std::string_view x);

/// Hexadecimal in lower case.
std::string encode_hex(bytes_view x);

} // namespace weir::atproto

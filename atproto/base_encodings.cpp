#include "atproto/base_encodings.hpp"

#include "atproto/limits.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace weir::atproto {

namespace {

constexpr std::string_view base32_letters = "abcdefghijklmnopqrstuvwxyz234567";

constexpr std::string_view base58_letters
  = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

constexpr std::string_view base64_letters
  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::string_view hex_letters = "0123456789abcdef";

constexpr uint8_t no_value = 0xff;

/// The value of each byte in an alphabet; `no_value` for foreign bytes.
constexpr auto values_of(std::string_view letters) {
  std::array<uint8_t, 256> out{};
  out.fill(no_value);
  for (size_t i = 0; i < letters.size(); ++i)
    out[static_cast<uint8_t>(letters[i])] = static_cast<uint8_t>(i);
  return out;
}

/// The two letters for every number of twice `Bits` bits.
template <unsigned Bits>
constexpr auto pairs_of(std::string_view letters) {
  std::array<std::array<char, 2>, size_t{1} << (2 * Bits)> out{};
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = {letters[i >> Bits], letters[i & ((1u << Bits) - 1)]};
  return out;
}

constexpr auto base32_values = values_of(base32_letters);
constexpr auto base58_values = values_of(base58_letters);
constexpr auto base64_values = values_of(base64_letters);

constexpr auto base32_pairs = pairs_of<5>(base32_letters);
constexpr auto base64_pairs = pairs_of<6>(base64_letters);

template <class Pair>
char* put_pair(char* out, const Pair& x) noexcept {
  std::memcpy(out, x.data(), 2);
  return out + 2;
}

/// Decodes letters of `Bits` bits each. The bits left over must be zero and
/// fewer than one letter has; otherwise no encoder wrote the text.
template <unsigned Bits>
std::optional<bytes> decode_bits(std::string_view x,
                                 const std::array<uint8_t, 256>& values) {
  bytes out;
  out.reserve(x.size() * Bits / 8);
  uint32_t pending = 0;
  unsigned bits = 0;
  for (const char c : x) {
    const auto value = values[static_cast<uint8_t>(c)];
    if (value == no_value)
      return std::nullopt;
    pending = pending << Bits | value;
    bits += Bits;
    if (bits >= 8) {
      bits -= 8;
      out.push_back(static_cast<uint8_t>(pending >> bits));
      pending &= (1u << bits) - 1;
    }
  }
  if (bits >= Bits || pending != 0)
    return std::nullopt;
  return out;
}

} // namespace

// -- base32 -------------------------------------------------------------------

char* write_base32(bytes_view x, char* out) noexcept {
  const auto* p = x.data();
  auto n = x.size();
  for (; n >= 5; p += 5, n -= 5) {
    const auto v = uint64_t{p[0]} << 32 | uint64_t{p[1]} << 24
                   | uint64_t{p[2]} << 16 | uint64_t{p[3]} << 8 | p[4];
    out = put_pair(out, base32_pairs[v >> 30]);
    out = put_pair(out, base32_pairs[v >> 20 & 0x3ff]);
    out = put_pair(out, base32_pairs[v >> 10 & 0x3ff]);
    out = put_pair(out, base32_pairs[v & 0x3ff]);
  }
  uint64_t v = 0;
  for (size_t i = 0; i < n; ++i)
    v |= uint64_t{p[i]} << (32 - 8 * i);
  for (size_t i = 0; i < (n * 8 + 4) / 5; ++i)
    *out++ = base32_letters[v >> (35 - 5 * i) & 0x1f];
  return out;
}

void append_base32(bytes_view x, std::string& out) {
  const auto at = out.size();
  out.resize(at + base32_size(x.size()));
  write_base32(x, out.data() + at);
}

std::optional<bytes> decode_base32(std::string_view x) {
  return decode_bits<5>(x, base32_values);
}

// -- base58 -------------------------------------------------------------------

std::string encode_base58(bytes_view x) {
  if (x.size() > limits::base58_bytes_max)
    return {};
  const auto zeros = static_cast<size_t>(std::find_if(x.begin(), x.end(),
                                                      [](uint8_t b) {
                                                        return b != 0;
                                                      })
                                         - x.begin());
  bytes digits; // The least significant comes first.
  digits.reserve(x.size() * 138 / 100 + 1);
  for (const uint32_t byte : x.subspan(zeros)) {
    auto carry = byte;
    for (auto& digit : digits) {
      carry += uint32_t{digit} << 8;
      digit = static_cast<uint8_t>(carry % 58);
      carry /= 58;
    }
    for (; carry != 0; carry /= 58)
      digits.push_back(static_cast<uint8_t>(carry % 58));
  }
  std::string out(zeros, base58_letters[0]);
  std::transform(digits.rbegin(), digits.rend(), std::back_inserter(out),
                 [](uint8_t digit) {
                   return base58_letters[digit];
                 });
  return out;
}

std::optional<bytes> decode_base58(std::string_view x) {
  if (x.size() > limits::base58_bytes_max)
    return std::nullopt;
  const auto zeros = std::min(x.find_first_not_of(base58_letters[0]), x.size());
  bytes out; // The least significant comes first.
  out.reserve(x.size());
  for (const char c : x.substr(zeros)) {
    const auto value = base58_values[static_cast<uint8_t>(c)];
    if (value == no_value)
      return std::nullopt;
    uint32_t carry = value;
    for (auto& byte : out) {
      carry += uint32_t{byte} * 58;
      byte = static_cast<uint8_t>(carry);
      carry >>= 8;
    }
    if (carry != 0)
      out.push_back(static_cast<uint8_t>(carry));
  }
  out.insert(out.end(), zeros, 0);
  std::reverse(out.begin(), out.end());
  return out;
}

// -- base64 -------------------------------------------------------------------

char* write_base64(bytes_view x, char* out) noexcept {
  const auto* p = x.data();
  auto n = x.size();
  for (; n >= 3; p += 3, n -= 3) {
    const auto v = uint32_t{p[0]} << 16 | uint32_t{p[1]} << 8 | p[2];
    out = put_pair(out, base64_pairs[v >> 12]);
    out = put_pair(out, base64_pairs[v & 0xfff]);
  }
  if (n == 1)
    return put_pair(out, base64_pairs[uint32_t{p[0]} << 4]);
  if (n == 2) {
    const auto v = uint32_t{p[0]} << 10 | uint32_t{p[1]} << 2;
    out = put_pair(out, base64_pairs[v >> 6]);
    *out++ = base64_letters[v & 0x3f];
  }
  return out;
}

void append_base64(bytes_view x, std::string& out) {
  const auto at = out.size();
  out.resize(at + base64_size(x.size()));
  write_base64(x, out.data() + at);
}

std::optional<bytes> decode_base64(std::string_view x) {
  if (x.ends_with('=')) {
    if (x.size() % 4 != 0)
      return std::nullopt;
    x.remove_suffix(x.ends_with("==") ? 2 : 1);
  }
  return decode_bits<6>(x, base64_values);
}

// -- hexadecimal --------------------------------------------------------------

std::string encode_hex(bytes_view x) {
  std::string out;
  out.reserve(x.size() * 2);
  for (const auto byte : x) {
    out += hex_letters[byte >> 4];
    out += hex_letters[byte & 0xf];
  }
  return out;
}

} // namespace weir::atproto

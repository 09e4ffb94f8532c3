#pragma once

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Properties that every codec of the store must have.

namespace weir::tests {

/// Neither a proper prefix nor a longer string decodes.
template <class Decode>
void expect_whole_only(const std::string& encoded, Decode decode) {
  for (size_t size = 0; size < encoded.size(); ++size)
    EXPECT_FALSE(decode(encoded.substr(0, size)).has_value())
      << "the first " << size << " of " << encoded.size() << " bytes";
  EXPECT_FALSE(decode(encoded + '\0').has_value());
}

/// Changed bytes that decode are encoded to exactly the same bytes.
template <class Decode, class Encode>
void expect_canonical(const std::string& encoded, Decode decode,
                      Encode encode) {
  for (size_t bit = 0; bit < encoded.size() * 8; ++bit) {
    auto changed = encoded;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    if (const auto back = decode(changed)) {
      EXPECT_EQ(encode(*back), changed) << "bit " << bit;
    }
  }
}

/// Random bytes may only fail to decode.
template <class Decode>
void expect_survives_noise(uint64_t seed, Decode decode) {
  const auto random = seeded_random(seed);
  for (int i = 0; i < 2'000; ++i) {
    std::string noise(random->below(64), '\0');
    for (auto& c : noise)
      c = static_cast<char>(random->next());
    if (!noise.empty() && random->below(2) == 0)
      noise[0] = 1;
    decode(noise);
  }
}

inline std::string to_hex(std::string_view x) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : x) {
    out += digits[static_cast<uint8_t>(c) >> 4];
    out += digits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

} // namespace weir::tests

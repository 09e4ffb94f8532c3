#include "tests/real/differential/random_cbor.hpp"

#include "atproto/cbor_item.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace weir::differential {

using namespace atproto;

namespace {

constexpr size_t depth_usual = 4;

constexpr std::array<uint64_t, 17> edges{
  0,
  1,
  23,
  24,
  255,
  256,
  65'535,
  65'536,
  0xffff'ffff,
  0x1'0000'0000,
  (uint64_t{1} << 53) - 1,
  uint64_t{1} << 53,
  (uint64_t{1} << 53) + 1,
  (uint64_t{1} << 63) - 1,
  uint64_t{1} << 63,
  (uint64_t{1} << 63) + 1,
  UINT64_MAX,
};

/// Bits of 64-bit floats: 1.5, 1, -0, NaN, infinities, the least, 2^53.
constexpr std::array<uint64_t, 8> doubles{
  0x3ff8'0000'0000'0000, 0x3ff0'0000'0000'0000, 0x8000'0000'0000'0000,
  0x7ff8'0000'0000'0000, 0x7ff0'0000'0000'0000, 0xfff0'0000'0000'0000,
  0x0000'0000'0000'0001, 0x4340'0000'0000'0000};

/// Invalid UTF-8: a lone continuation, overlong, a surrogate, beyond U+10FFFF,
/// cut.
constexpr std::array<std::string_view, 6> broken_texts{
  "a\x80z",           "\xc0\xaf", "\xed\xa0\x80",
  "\xf4\x90\x80\x80", "\xe2\x82", "ok\xff"};

constexpr std::array<std::string_view, 6> sound_texts{
  "",         "\xc3\xa9",    "\xe2\x82\xac", "\xf0\x9f\x98\x80",
  "\"\\\n\t", "\xef\xbb\xbf"};

/// Keys with a special meaning in some program.
constexpr std::array<std::string_view, 10> odd_keys{
  "",   "$type",     "$link",       "$bytes",   "ref",
  "10", "__proto__", "constructor", "mimeType", "toString"};

} // namespace

void put_head(bytes& out, uint8_t major, uint64_t n, unsigned width) {
  const auto top = static_cast<uint8_t>(major << 5);
  if (width == 0) {
    out.push_back(static_cast<uint8_t>(top | (n & 0x1f)));
    return;
  }
  const auto info = width == 1 ? 24 : width == 2 ? 25 : width == 4 ? 26 : 27;
  out.push_back(static_cast<uint8_t>(top | info));
  for (auto shift = width * 8; shift > 0; shift -= 8)
    out.push_back(static_cast<uint8_t>(n >> (shift - 8)));
}

void put_head(bytes& out, uint8_t major, uint64_t n) {
  put_head(out, major, n,
           n < 24            ? 0
           : n <= UINT8_MAX  ? 1
           : n <= UINT16_MAX ? 2
           : n <= UINT32_MAX ? 4
                             : 8);
}

void put(bytes& out, std::initializer_list<uint8_t> x) {
  out.insert(out.end(), x);
}

void put(bytes& out, std::string_view x) {
  out.insert(out.end(), x.begin(), x.end());
}

void put(bytes& out, bytes_view x) {
  out.insert(out.end(), x.begin(), x.end());
}

// -- cbor_grower --------------------------------------------------------------

bytes cbor_grower::record() {
  out_.clear();
  map(chance(2) ? 30 + random_.below(40) : depth_usual);
  return std::move(out_);
}

std::string cbor_grower::letters(size_t size_max) {
  std::string out;
  for (auto left = random_.below(size_max + 1); left > 0; --left)
    out += static_cast<char>('a' + random_.below(26));
  return out;
}

/// @param depth The number of levels that may follow; above `depth_usual` a
/// single chain.
void cbor_grower::item(size_t depth) {
  if (faults_ > 0 && chance(faults_))
    return broken_item(depth);
  if (depth > depth_usual) {
    chance(50) ? array(depth) : map(depth);
    return;
  }
  switch (random_.below(depth == 0 ? 6 : 8)) {
    case 0:
    case 1:
      return integer();
    case 2:
      return text();
    case 3: {
      bytes data(random_.below(chance(10) ? 300 : 40));
      random_.fill(data);
      put_head(out_, cbor::major_bytes, data.size());
      return put(out_, bytes_view{data});
    }
    case 4:
      return link();
    case 5:
      return put(out_, {static_cast<uint8_t>(0xf4 + random_.below(3))});
    case 6:
      return array(depth);
    default:
      return map(depth);
  }
}

void cbor_grower::integer() {
  const auto n = chance(50) ? edges[random_.below(edges.size())]
                            : random_.next() >> random_.below(64);
  put_head(out_, chance(50) ? cbor::major_unsigned : cbor::major_negative, n);
}

void cbor_grower::text() {
  const auto x = chance(30)
                   ? std::string{sound_texts[random_.below(sound_texts.size())]}
                   : letters(chance(5) ? 400 : 30);
  put_head(out_, cbor::major_text, x.size());
  put(out_, x);
}

void cbor_grower::link() {
  digest hash;
  random_.fill(hash);
  const cid id{chance(70) ? cid::codec_dag_cbor : cid::codec_raw, hash};
  cbor::writer link;
  put(out_, bytes_view{link.put_link(id).data()});
}

void cbor_grower::array(size_t depth) {
  const auto size = depth > depth_usual ? 1 : random_.below(5);
  put_head(out_, cbor::major_array, size);
  for (size_t i = 0; i < size; ++i)
    item(depth - 1);
}

void cbor_grower::map(size_t depth) {
  std::vector<std::string> keys;
  std::set<std::string> seen;
  const auto wanted = depth > depth_usual ? 1 : random_.below(7);
  for (size_t i = 0; i < wanted; ++i) {
    auto key = chance(10)
                 ? std::string{odd_keys[random_.below(odd_keys.size())]}
                 : letters(chance(3) ? 200 : 8);
    if (seen.insert(key).second)
      keys.push_back(std::move(key));
  }
  std::sort(keys.begin(), keys.end(), cbor::key_less);
  if (keys.size() > 1 && chance(faults_))
    std::swap(keys.front(), keys.back());
  if (!keys.empty() && chance(faults_ / 2))
    keys.push_back(keys.back());
  put_head(out_, cbor::major_map, keys.size());
  for (const auto& key : keys) {
    put_head(out_, cbor::major_text, key.size());
    put(out_, key);
    item(depth == 0 ? 0 : depth - 1);
  }
}

void cbor_grower::floating() {
  const auto bits
    = chance(60) ? doubles[random_.below(doubles.size())] : random_.next();
  const std::array<unsigned, 3> widths{2, 4, 8};
  const auto width = chance(60) ? 8u : widths[random_.below(3)];
  put_head(out_, cbor::major_simple, bits >> (64 - width * 8), width);
}

void cbor_grower::broken_item(size_t depth) {
  switch (random_.below(10)) {
    case 0: // Longer than necessary.
      return put_head(out_, static_cast<uint8_t>(random_.below(2)),
                      random_.below(200), 2u << random_.below(3));
    case 1:
    case 2:
      return floating();
    case 3: { // A tag other than 42, or 42 over something else.
      put_head(out_, cbor::major_tag, chance(50) ? 42 : random_.below(300));
      return item(0);
    }
    case 4: { // A link to some other kind of bytes.
      put(out_, {0xd8, 42});
      bytes data(1 + random_.below(45));
      random_.fill(data);
      data.front() = chance(70) ? 0 : 1;
      if (data.size() > 4 && chance(70))
        std::copy_n(std::array<uint8_t, 3>{1, 0x71, 0x12}.begin(), 3,
                    data.begin() + 1);
      put_head(out_, cbor::major_bytes, data.size());
      return put(out_, bytes_view{data});
    }
    case 5: { // Indefinite.
      const std::array<uint8_t, 4> heads{0x5f, 0x7f, 0x9f, 0xbf};
      put(out_, {heads[random_.below(4)]});
      return put(out_, {0xff});
    }
    case 6:
      return put(out_, {static_cast<uint8_t>(0xf7 + random_.below(2)),
                        static_cast<uint8_t>(random_.below(256))});
    case 7:
      return put(out_, {0xf7});
    case 8: {
      const auto x = broken_texts[random_.below(broken_texts.size())];
      put_head(out_, cbor::major_text, x.size());
      return put(out_, x);
    }
    default: // A map with a key that is not text.
      put(out_, {0xa1});
      integer();
      return item(depth == 0 ? 0 : depth - 1);
  }
}

// -- mutate -------------------------------------------------------------------

void mutate(bytes& x, random_source& random) {
  constexpr std::array<uint8_t, 20> bytes_of_note{
    0x00, 0x17, 0x18, 0x1b, 0x20, 0x38, 0x40, 0x58, 0x5f, 0x60,
    0x80, 0x9f, 0xa0, 0xa1, 0xd8, 0xf6, 0xf7, 0xf9, 0xfb, 0xff};
  for (auto left = 1 + random.below(3); left > 0 && !x.empty(); --left) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(x.size()));
    const auto here = x.begin() + at;
    const auto run = static_cast<std::ptrdiff_t>(
      1 + random.below(std::min<size_t>(x.end() - here, 16)));
    switch (random.below(8)) {
      case 0:
        *here ^= static_cast<uint8_t>(1u << random.below(8));
        break;
      case 1:
        *here = bytes_of_note[random.below(bytes_of_note.size())];
        break;
      case 2:
        x.erase(here, here + run);
        break;
      case 3: {
        const bytes piece(here, here + run);
        x.insert(here, piece.begin(), piece.end());
        break;
      }
      case 4:
        x.insert(here, static_cast<uint8_t>(random.below(256)));
        break;
      case 5:
        x.resize(static_cast<size_t>(at));
        break;
      case 6: // A length, most likely.
        *here = static_cast<uint8_t>(*here + (random.below(2) == 0 ? 1 : -1));
        break;
      default: // Two neighbours.
        if (here + 2 * run <= x.end())
          std::swap_ranges(here, here + run, here + run);
    }
  }
}

} // namespace weir::differential

#include "atproto/base_encodings.hpp"
#include "atproto/dag_cbor.hpp"
#include "tests/support/foreign_forms.hpp"

#include <gtest/gtest.h>

#include <span>
#include <sstream>
#include <string>

// Inputs that are DAG-CBOR in the strict form of protocol-coverage.md section
// 6, and inputs that are not, with the reason (hostile-inputs.md 2.1.3 to
// 2.1.5).

namespace weir::atproto::cbor {

namespace {

/// Inputs in hexadecimal, separated by spaces.
struct case_group {
  std::string_view name;
  std::string_view inputs;
};

constexpr case_group accepted[] = {
  {"integers at each edge of each form",
   "00 01 17 1818 18ff 190100 19ffff 1a00010000 1affffffff "
   "1b0000000100000000 1b001fffffffffffff 1b0020000000000000 "
   "1b7fffffffffffffff 1bffffffffffffffff 20 37 3818 38ff 390100 39ffff "
   "3a00010000 3affffffff 3b0000000100000000 3b001ffffffffffffe "
   "3b7fffffffffffffff 3bffffffffffffffff"},
  {"byte strings",
   "40 4100 43010203 5818abababababababababababababababababababababababab"},
  {"text", "60 6161 6100 617f 62c280 63e0a080 63ed9fbf 63ee8080 63efbfbf "
           "64f0908080 64f48fbfbf 6365cc81 "
           "7818616161616161616161616161616161616161616161616161"},
  {"arrays", "80 8100 83010203 818180 81a0 "
             "9818000000000000000000000000000000000000000000000000"},
  {"maps, shorter keys first, then bytewise",
   "a0 a1616100 a16000 a26000616100 a2616100616200 a2617a0062616100 "
   "a361610061620062616100 a162c3a900 a2617a0062c3a900 a161616161 "
   "a16161a1616100 b818614100614200614300614400614500614600614700614800614"
   "900614a00614b00614c00614d00614e00614f006150006151006152006153006154006"
   "15500615600615700615800"},
  {"links, blessed or kept as they are",
   "d82a582500017112205891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286"
   "a2e846f6be03 d82a582500015512205891b5b522d5df086d0ff0b110fbd9d21bb4fc7"
   "163af34d08286a2e846f6be03 d82a582500017012205891b5b522d5df086d0ff0b110"
   "fbd9d21bb4fc7163af34d08286a2e846f6be03 d82a58250001711e205891b5b522d5d"
   "f086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 "
   "d82a58230012205891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e8"
   "46f6be03 d82a450001551200 d82a4a0001550005aabbccddee"},
  {"simple values", "f4 f5 f6 83f4f5f6"},
};

/// Named by the text of the error.
constexpr case_group refused[] = {
  {"ends inside an item",
   "18 19 1901 1a000100 1b00000001000000 38 58 78 98 b8 d8 fb "
   "fb3ff80000000000 a16161 820018 d82a"},
  {"number not in its shortest form",
   "1800 1817 190000 1900ff 1a00000000 1a0000ffff 1b0000000000000000 "
   "1b00000000ffffffff 3800 3817 3900ff 3a0000ffff 3b00000000ffffffff "
   "5800 580100 590001ff 5a0000000100 5b000000000000000100 7800 780161 "
   "79000161 7a0000000161 7b000000000000000161 9800 980100 99000100 "
   "9a0000000100 9b000000000000000100 b800 b801616100 b90001616100 "
   "ba00000001616100 bb0000000000000001616100 d9002a582500017112205891b5b5"
   "22d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 "
   "da0000002a582500017112205891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34"
   "d08286a2e846f6be03 d82a59002500017112205891b5b522d5df086d0ff0b110fbd9d"
   "21bb4fc7163af34d08286a2e846f6be03"},
  {"reserved initial byte", "1c 1d 1e 3c 5d 7e 9c bd dc"},
  {"indefinite length",
   "1f 3f 5f 5fff 5f4100ff 7f 7fff 7f6161ff 9f 9fff 9f00ff 9f9fffff bf "
   "bfff bf616100ff df ff 81ff"},
  {"simple value other than false, true, null",
   "e0 f0 f3 f7 f800 f814 f818 f8ff"},
  {"float", "f90000 f93c00 f97c00 f97e00 fa00000000 fa3f800000 fa7fc00000 "
            "fb0000000000000000 fb3ff0000000000000 fb7ff0000000000000 "
            "fb7ff8000000000000 fbfff0000000000000"},
  {"tag other than 42",
   "c000 c100 c249010000000000000000 c34101 d74100 d8206161 "
   "d82b582500017112205891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286"
   "a2e846f6be03 d9d9f700 db000000010000002a00"},
  {"tag 42 without a CID",
   "d82a00 d82a6100 d82af6 d82a40 d82a4100 d82a420001 "
   "d82a5824017112205891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2"
   "e846f6be03 d82a582501017112205891b5b522d5df086d0ff0b110fbd9d21bb4fc716"
   "3af34d08286a2e846f6be03 d82a582400017112205891b5b522d5df086d0ff0b110fb"
   "d9d21bb4fc7163af34d08286a2e846f6be d82a582600017112205891b5b522d5df086"
   "d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be0300 "
   "d82a582500027112205891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286"
   "a2e846f6be03 d82ad82a582500017112205891b5b522d5df086d0ff0b110fbd9d21bb"
   "4fc7163af34d08286a2e846f6be03 d82a58240012205891b5b522d5df086d0ff0b110"
   "fbd9d21bb4fc7163af34d08286a2e846f6be0300"},
  {"text is not UTF-8",
   "6180 61ff 62c328 62c080 63e08080 63eda080 63edbfbf 64f0808080 "
   "64f4908080 64f8888080 61c3 a1618000"},
  {"map key is not text",
   "a10000 a12000 a1406100 a18000 a1a000 a1f600 a1f400 "
   "a1d82a582500017112205891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d082"
   "86a2e846f6be0300 a26161004000"},
  {"map keys out of order",
   "a2616200616100 a262616100616200 a36161006162006000 a262c3a900617a00 "
   "a16161a2616200616100"},
  {"map key repeated",
   "a2616100616100 a260006000 a3616100616200616200 a2616100616101"},
  {"length beyond the end",
   "41 4200 5818ab 5bffffffffffffffff 6261 7affffffff61 "
   "7bffffffffffffffff61 81 8201 8300 9bffffffffffffffff00 a1 a26161 "
   "a2616100 bb3030303030303030616100 9affffffff00 baffffffff616100"},
  {"bytes behind the item", "0000 f6f6 8000 a0a0 616161"},
};

/// Calls `check(group, hex, input)` for every case; returns their number.
template <class Check>
size_t for_each_case(std::span<const case_group> groups, Check check) {
  size_t n = 0;
  for (const auto& group : groups) {
    std::istringstream words{std::string{group.inputs}};
    for (std::string hex; words >> hex; ++n)
      check(group.name, hex, tests::decode_hex(hex).value());
  }
  return n;
}

/// Decodes one item with the reader and encodes it again.
void write_anew(reader& in, writer& out) {
  switch (tests::peek(in).value()) {
    case tests::cbor_kind::unsigned_int:
    case tests::cbor_kind::negative_int:
      out.put_int(in.read_int().value());
      break;
    case tests::cbor_kind::byte_string:
      out.put_bytes(in.read_bytes().value());
      break;
    case tests::cbor_kind::text_string:
      out.put_text(in.read_text().value());
      break;
    case tests::cbor_kind::array: {
      const auto n = in.read_array().value();
      out.begin_array(n);
      for (size_t i = 0; i < n; ++i)
        write_anew(in, out);
      break;
    }
    case tests::cbor_kind::map: {
      const auto n = in.read_map().value();
      out.begin_map(n);
      for (size_t i = 0; i < n; ++i) {
        out.put_text(in.read_text().value());
        write_anew(in, out);
      }
      break;
    }
    case tests::cbor_kind::link:
      out.put_link(in.read_link().value());
      break;
    case tests::cbor_kind::boolean:
      out.put_bool(in.read_bool().value());
      break;
    case tests::cbor_kind::null:
      EXPECT_TRUE(in.try_null());
      out.put_null();
      break;
    case tests::cbor_kind::floating:
      out.put_double(tests::read_double(in));
      break;
  }
}

/// Integers that are valid in CBOR and do not fit into int64.
bool beyond_int64(std::string_view hex) {
  return hex.substr(1).starts_with("bffffffffffffffff");
}

} // namespace

// protocol-coverage.md 6.10
TEST(DagCborCasesTest, AcceptsCanonicalItemsAndWritesThemBackUnchanged) {
  const auto cases = for_each_case(
    accepted, [](auto group, const std::string& hex, const bytes& input) {
      const auto verdict = validate(input);
      ASSERT_TRUE(verdict) << group << ' ' << hex << ": "
                           << verdict.error().context;
      reader skipping{input};
      EXPECT_EQ(skipping.skip().value().size(), input.size()) << hex;
      EXPECT_TRUE(skipping.at_end());
      if (beyond_int64(hex))
        return;
      reader in{input};
      writer out;
      write_anew(in, out);
      EXPECT_TRUE(in.at_end()) << hex;
      EXPECT_EQ(out.data(), input) << hex;
    });
  EXPECT_EQ(cases, 72u);
}

// protocol-coverage.md 6.1, 6.2, 6.3, 6.5, 6.6, 6.8
TEST(DagCborCasesTest, RefusesEverythingElseAndSaysWhy) {
  const auto cases = for_each_case(
    refused, [](auto why, const std::string& hex, const bytes& input) {
      const auto verdict = validate(input);
      ASSERT_FALSE(verdict) << hex << " is accepted: " << why;
      EXPECT_EQ(verdict.error().code, ec::malformed) << hex;
      EXPECT_NE(verdict.error().context.find(why), std::string::npos)
        << hex << ": " << verdict.error().context;
    });
  EXPECT_EQ(cases, 173u);
  EXPECT_FALSE(validate({}));
}

TEST(DagCborCasesTest, RefusesTheSameFaultsInsideContainers) {
  for_each_case(refused, [](auto why, const std::string& hex, const bytes&) {
    if (why == "bytes behind the item")
      return;
    for (const auto& text : {"8200" + hex, "a16161" + hex})
      EXPECT_FALSE(validate(tests::decode_hex(text).value())) << text;
  });
}

TEST(DagCborCasesTest, AnyCutMakesAnItemInvalid) {
  for_each_case(accepted, [](auto, const std::string& hex, const bytes& input) {
    for (size_t size = 0; size < input.size(); ++size)
      EXPECT_FALSE(validate(bytes_view{input}.first(size)))
        << hex << " cut to " << size;
  });
}

} // namespace weir::atproto::cbor

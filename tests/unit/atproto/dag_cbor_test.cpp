#include "atproto/base_encodings.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "tests/support/foreign_forms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <pthread.h>

namespace weir::atproto::cbor {

namespace {

bytes hex(std::string_view x) {
  return tests::decode_hex(x).value();
}

ec code_of(const result<void>& x) {
  return x ? ec::none : x.error().code;
}

/// `n` arrays of one element inside each other, the innermost empty.
bytes nested_arrays(size_t n) {
  bytes out(n, 0x81);
  out.back() = 0x80;
  return out;
}

/// The same for maps, each with the key "a".
bytes nested_maps(size_t n) {
  bytes out;
  for (size_t i = 1; i < n; ++i)
    out.insert(out.end(), {0xa1, 0x61, 'a'});
  out.push_back(0xa0);
  return out;
}

/// A map of `n` one-byte integers with keys in descending order.
bytes unsorted_map(size_t n) {
  writer out;
  out.begin_map(n);
  for (size_t i = n; i > 0; --i)
    out.put_text(std::to_string(1000 + i)).put_int(0);
  return out.take();
}

/// Runs `job` on a thread with a stack of 256 KiB.
void on_small_stack(std::function<void()> job) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread{};
  const auto run = [](void* x) -> void* {
    (*static_cast<std::function<void()>*>(x))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &job), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

constexpr rules lenient{32, false, false};

} // namespace

// -- limits -------------------------------------------------------------------

// protocol-coverage.md 6.9, 10.8
TEST(DagCborLimitsTest, NestingEndsAtItsLimit) {
  for (const auto depth : {size_t{1}, limits::frame_depth_max,
                           limits::cbor_depth_max, limits::cbor_depth_hard_max})
    for (const auto& make : {nested_arrays, nested_maps}) {
      EXPECT_TRUE(validate(make(depth), {depth})) << depth;
      EXPECT_EQ(code_of(validate(make(depth + 1), {depth})), ec::limit_reached);
    }
}

// protocol-coverage.md 6.9
TEST(DagCborLimitsTest, NobodyCanAskForMoreThanTheHardLimit) {
  const rules greedy{1'000'000, true, false};
  EXPECT_TRUE(validate(nested_arrays(limits::cbor_depth_hard_max), greedy));
  EXPECT_EQ(
    code_of(validate(nested_arrays(limits::cbor_depth_hard_max + 1), greedy)),
    ec::limit_reached);
}

TEST(DagCborLimitsTest, AScalarNeedsNoDepth) {
  EXPECT_TRUE(validate(hex("01"), {0}));
  EXPECT_EQ(code_of(validate(hex("80"), {0})), ec::limit_reached);
}

// hostile-inputs.md 2.1.4: two megabytes of 0x81 exhausted another decoder's
// stack.
TEST(DagCborLimitsTest, ADepthBombCostsNoStack) {
  for (const auto& bomb : {nested_arrays(2'000'000), nested_maps(700'000)})
    on_small_stack([&] {
      for (const auto depth : {size_t{32}, size_t{1'000'000}}) {
        EXPECT_EQ(code_of(validate(bomb, {depth, true, false})),
                  ec::limit_reached);
        EXPECT_EQ(code_of(validate(bomb, {depth, false, true})),
                  ec::limit_reached);
        reader in{bomb};
        EXPECT_EQ(in.skip(depth).error().code, ec::limit_reached);
      }
    });
}

// protocol-coverage.md 6.9, 10.8
TEST(DagCborLimitsTest, ContainersEndAtTheirLimit) {
  writer array;
  array.begin_array(limits::cbor_container_max);
  bytes good = array.take();
  good.resize(good.size() + limits::cbor_container_max, 0);
  EXPECT_TRUE(validate(good));
  EXPECT_EQ(reader{good}.read_array().value(), limits::cbor_container_max);
  array.begin_array(limits::cbor_container_max + 1);
  bytes bad = array.take();
  bad.resize(bad.size() + limits::cbor_container_max + 1, 0);
  EXPECT_EQ(code_of(validate(bad)), ec::limit_reached);
  EXPECT_EQ(reader{bad}.read_array().error().code, ec::limit_reached);
}

// protocol-coverage.md 6.9, 10.8
TEST(DagCborLimitsTest, MapKeysEndAtTheirLimit) {
  const auto map_with_key = [](size_t size) {
    return writer{}
      .begin_map(1)
      .put_text(std::string(size, 'k'))
      .put_null()
      .take();
  };
  EXPECT_TRUE(validate(map_with_key(limits::cbor_map_key_bytes_max)));
  EXPECT_EQ(code_of(validate(map_with_key(limits::cbor_map_key_bytes_max + 1))),
            ec::limit_reached);
}

// hostile-inputs.md 2.1.3: 3 * 10^18 entries, announced in twelve bytes.
// protocol-coverage.md 6.9
TEST(DagCborLimitsTest, ADeclaredCountIsComparedWithTheBytesLeft) {
  const auto map = hex("bb3030303030303030616100");
  const auto array = hex("9bffffffffffffffff00");
  EXPECT_EQ(code_of(validate(map)), ec::malformed);
  EXPECT_EQ(code_of(validate(array)), ec::malformed);
  EXPECT_FALSE(reader{map}.read_map());
  EXPECT_FALSE(reader{array}.read_array());
  EXPECT_FALSE(reader{hex("a2616100")}.read_map());
  EXPECT_EQ(reader{hex("a1616100")}.read_map().value(), 1u);
}

// -- rules --------------------------------------------------------------------

TEST(DagCborRulesTest, LenientOrderStillRefusesARepeatedKey) {
  const auto unsorted = hex("a2616200616100");
  EXPECT_FALSE(validate(unsorted));
  EXPECT_TRUE(validate(unsorted, lenient));
  for (const auto* text : {
         "a2616100616100",                   // side by side
         "a3616200616100616200",             // apart
         "a26162006161a3616300616200616300", // in an inner map
       })
    EXPECT_FALSE(validate(hex(text), lenient)) << text;
}

// protocol-coverage.md 1.7
TEST(DagCborRulesTest, LenientOrderStaysStrictInEverythingElse) {
  for (const auto* text :
       {"a2616200", "a26162006161", "a261620061611800", "a2616200616100ff",
        "a26162006161f7", "a261620001f6", "a26162006161fb3ff0000000000000"})
    EXPECT_FALSE(validate(hex(text), lenient)) << text;
}

TEST(DagCborRulesTest, AnUnsortedMapEndsAtItsLimit) {
  EXPECT_TRUE(
    validate(unsorted_map(limits::cbor_unsorted_entries_max), lenient));
  EXPECT_EQ(code_of(validate(
              unsorted_map(limits::cbor_unsorted_entries_max + 1), lenient)),
            ec::limit_reached);
}

// protocol-coverage.md 6.7
TEST(DagCborRulesTest, FloatsAreFiniteAndOf64BitsWhereAllowed) {
  const rules floats{32, true, true};
  for (const auto* text : {"fb3ff8000000000000", "fb0000000000000000",
                           "fb7fefffffffffffff", "fb0000000000000001"})
    EXPECT_TRUE(validate(hex(text), floats)) << text;
  for (const auto* text :
       {"f93e00", "fa3fc00000", "fb7ff0000000000000", "fbfff0000000000000",
        "fb7ff8000000000000", "fb8000000000000000"}) {
    EXPECT_FALSE(validate(hex(text), floats)) << text;
  }
}

TEST(DagCborTest, APrefixEndsWhereTheItemEnds) {
  EXPECT_EQ(validate_prefix(hex("a161610000")).value(), 4u);
  EXPECT_EQ(validate_prefix(hex("00ff")).value(), 1u);
  EXPECT_FALSE(validate_prefix(hex("a16161")));
  EXPECT_FALSE(validate(hex("a161610000")));
}

TEST(DagCborTest, AnErrorNamesTheByte) {
  EXPECT_EQ(validate(hex("8200f7")).error().context,
            "dag-cbor: simple value other than false, true, null at byte 3");
}

// protocol-coverage.md 6.3
TEST(DagCborTest, KeysAreOrderedByLengthThenByBytes) {
  const char* keys[] = {"", "a", "b", "\xc3\xa9", "aa", "bbb"};
  EXPECT_TRUE(key_less("b", "aa"));
  EXPECT_TRUE(key_less("aa", "\xc3\xa9"));
  EXPECT_FALSE(key_less("aa", "aa"));
  std::sort(std::begin(keys), std::end(keys), key_less);
  writer out;
  out.begin_map(std::size(keys));
  for (const auto* key : keys)
    out.put_text(key).put_null();
  EXPECT_TRUE(validate(out.data()));
}

// -- reader -------------------------------------------------------------------

TEST(DagCborReaderTest, ReadsACommitLikeMap) {
  const auto link = cid::of_dag_cbor(as_bytes("x"));
  const auto block = writer{}
                       .begin_map(4)
                       .put_text("did")
                       .put_text("did:plc:abc")
                       .put_text("sig")
                       .put_bytes(bytes{1, 2, 3})
                       .put_text("data")
                       .put_link(link)
                       .put_text("prev")
                       .put_null()
                       .take();
  reader in{block};
  EXPECT_EQ(in.read_map().value(), 4u);
  EXPECT_EQ(in.read_text().value(), "did");
  EXPECT_EQ(in.read_text().value(), "did:plc:abc");
  EXPECT_EQ(in.read_text().value(), "sig");
  EXPECT_FALSE(in.try_null());
  const auto sig = in.read_bytes().value();
  EXPECT_EQ(bytes(sig.begin(), sig.end()), (bytes{1, 2, 3}));
  EXPECT_EQ(in.read_text().value(), "data");
  EXPECT_EQ(in.read_link().value(), link);
  EXPECT_EQ(in.read_text().value(), "prev");
  EXPECT_TRUE(in.try_null());
  EXPECT_TRUE(in.at_end());
  EXPECT_FALSE(in.try_null());
}

// protocol-coverage.md 6.1
TEST(DagCborReaderTest, IntegersReachBothEndsOfInt64AndNoFurther) {
  for (const auto n : {std::numeric_limits<int64_t>::min(), int64_t{-1},
                       int64_t{0}, std::numeric_limits<int64_t>::max()}) {
    const auto item = writer{}.put_int(n).take();
    EXPECT_EQ(reader{item}.read_int().value(), n);
  }
  EXPECT_FALSE(reader{hex("1b8000000000000000")}.read_int());
  EXPECT_FALSE(reader{hex("3b8000000000000000")}.read_int());
  EXPECT_TRUE(validate(hex("3b8000000000000000")));
}

TEST(DagCborReaderTest, AnItemOfAnotherKindIsRefused) {
  const auto all
    = {"00",
       "20",
       "4100",
       "6161",
       "80",
       "a0",
       "f4",
       "f6",
       "fb3ff0000000000000",
       "d82a58250001711220"
       "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"};
  const auto accepting = [&](auto read) {
    return std::count_if(all.begin(), all.end(), [&](const char* text) {
      const auto input = hex(text);
      reader in{input};
      return read(in).has_value();
    });
  };
  EXPECT_EQ(accepting([](auto& in) {
              return in.read_int();
            }),
            2);
  EXPECT_EQ(accepting([](auto& in) {
              return in.read_bytes();
            }),
            1);
  EXPECT_EQ(accepting([](auto& in) {
              return in.read_text();
            }),
            1);
  EXPECT_EQ(accepting([](auto& in) {
              return in.read_array();
            }),
            1);
  EXPECT_EQ(accepting([](auto& in) {
              return in.read_map();
            }),
            1);
  EXPECT_EQ(accepting([](auto& in) {
              return in.read_bool();
            }),
            1);
  EXPECT_EQ(accepting([](auto& in) {
              return in.read_link();
            }),
            1);
  EXPECT_EQ(accepting([](auto& in) {
              return tests::peek(in);
            }),
            10);
  EXPECT_EQ(accepting([](auto& in) {
              return in.skip();
            }),
            10);
}

// These doubles have the same bits as the numbers of false, true and null.
TEST(DagCborReaderTest, ADoubleIsNeverTakenForASimpleValue) {
  for (const auto* text :
       {"fb0000000000000014", "fb0000000000000015", "fb0000000000000016"}) {
    const auto input = hex(text);
    EXPECT_FALSE(reader{input}.read_bool()) << text;
    EXPECT_FALSE(reader{input}.try_null()) << text;
  }
}

TEST(DagCborReaderTest, NothingIsReadFromNothing) {
  reader in{{}};
  EXPECT_TRUE(in.at_end());
  EXPECT_FALSE(tests::peek(in));
  EXPECT_FALSE(in.read_int());
  EXPECT_FALSE(in.read_bool());
  EXPECT_FALSE(in.try_null());
  EXPECT_FALSE(in.read_text());
  EXPECT_FALSE(in.read_link());
  EXPECT_FALSE(in.skip());
}

TEST(DagCborReaderTest, SkipsOneItemAndReturnsItsBytes) {
  const auto input = hex("a26161826161f661624100f5");
  reader in{input};
  EXPECT_EQ(in.skip().value().size(), 11u);
  EXPECT_EQ(in.position(), 11u);
  EXPECT_EQ(in.rest().size(), 1u);
  EXPECT_TRUE(in.read_bool().value());
}

TEST(DagCborReaderTest, SkipHonoursItsDepth) {
  const auto input = nested_arrays(9);
  EXPECT_TRUE(reader{input}.skip(9));
  EXPECT_FALSE(reader{input}.skip(8));
}

// -- writer -------------------------------------------------------------------

TEST(DagCborWriterTest, WritesDoublesIn64Bits) {
  EXPECT_EQ(encode_hex(writer{}.put_double(1.5).data()), "fb3ff8000000000000");
  const auto item = writer{}.put_double(-0.1).take();
  reader in{item};
  EXPECT_EQ(tests::read_double(in), -0.1);
}

TEST(DagCborWriterTest, TakeLeavesItEmptyForTheNextItem) {
  writer out;
  out.put_int(1);
  EXPECT_EQ(out.take(), bytes{1});
  out.put_int(2);
  EXPECT_EQ(out.data(), bytes{2});
  out.clear();
  out.put_raw(hex("a0"));
  EXPECT_EQ(out.data(), bytes{0xa0});
}

} // namespace weir::atproto::cbor

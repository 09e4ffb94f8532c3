#include "atproto/base_encodings.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "atproto/record_json.hpp"
#include "tests/support/foreign_forms.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <limits>

// protocol-coverage.md 6.11 and 6.12; api.md, Events.

namespace weir::atproto {

namespace {

using cbor::writer;

/// The JSON of `record`, or the hazard or error.
std::string to_json(bytes_view record) {
  std::string out = "before:";
  const auto hazard = append_record_json(record, out);
  if (!hazard || *hazard != json_hazard::none) {
    EXPECT_EQ(out, "before:") << "something was left behind";
    return hazard ? "hazard " + std::to_string(static_cast<int>(*hazard))
                  : to_string(hazard.error());
  }
  EXPECT_TRUE(out.starts_with("before:"));
  return out.substr(7);
}

/// JSON of the record {"x": item}.
std::string to_json(writer& item) {
  return to_json(
    writer{}.begin_map(1).put_text("x").put_raw(item.data()).take());
}

json_hazard hazard_of(bytes_view record) {
  std::string out;
  return append_record_json(record, out).value();
}

json_hazard hazard_of(writer& item) {
  return hazard_of(
    writer{}.begin_map(1).put_text("x").put_raw(item.data()).take());
}

const cid raw_link = cid::of_raw(as_bytes("blob"));

/// {"x": a blob} with these three parts.
bytes blob(bytes_view ref, bytes_view size, bytes_view mime_type) {
  writer out;
  out.begin_map(1).put_text("x").begin_map(4);
  out.put_text("ref").put_raw(ref).put_text("size").put_raw(size);
  out.put_text("$type").put_text("blob");
  out.put_text("mimeType").put_raw(mime_type);
  return out.take();
}

bytes blob_with_ref(writer& ref) {
  return blob(ref.data(), writer{}.put_int(1).data(),
              writer{}.put_text("image/png").data());
}

} // namespace

// -- values -------------------------------------------------------------------

// protocol-coverage.md 6.12
TEST(RecordJsonTest, WritesEveryKindOfValue) {
  writer out;
  out.begin_map(8);
  out.put_text("a").put_null();
  out.put_text("b").put_bool(true);
  out.put_text("c").put_bool(false);
  out.put_text("d").put_int(-7);
  out.put_text("e").put_text("text");
  out.put_text("f").put_bytes(bytes{1, 2, 3, 4});
  out.put_text("g").begin_array(2).begin_array(0).begin_map(0);
  out.put_text("h").put_link(raw_link);
  EXPECT_EQ(to_json(out.data()),
            R"({"a":null,"b":true,"c":false,"d":-7,"e":"text",)"
            R"("f":{"$bytes":"AQIDBA"},"g":[[],{}],"h":{"$link":")"
              + raw_link.to_text() + "\"}}");
}

TEST(RecordJsonTest, WritesContainersOfEverySize) {
  EXPECT_EQ(to_json(writer{}.begin_map(0).data()), "{}");
  EXPECT_EQ(to_json(writer{}.begin_array(0)), R"({"x":[]})");
  EXPECT_EQ(to_json(writer{}.begin_array(1).put_int(0)), R"({"x":[0]})");
  EXPECT_EQ(to_json(writer{}
                      .begin_array(2)
                      .begin_map(1)
                      .put_text("")
                      .put_null()
                      .begin_array(1)
                      .begin_array(0)),
            R"({"x":[{"":null},[[]]]})");
}

// protocol-coverage.md 6.1
TEST(RecordJsonTest, IntegersReachTheSafeEndsAndNoFurther) {
  constexpr auto max = limits::safe_integer_max;
  EXPECT_EQ(to_json(writer{}.put_int(max)), R"({"x":9007199254740991})");
  EXPECT_EQ(to_json(writer{}.put_int(-max)), R"({"x":-9007199254740991})");
  for (const auto n : {max + 1, -max - 1, std::numeric_limits<int64_t>::max(),
                       std::numeric_limits<int64_t>::min()})
    EXPECT_EQ(hazard_of(writer{}.put_int(n)), json_hazard::unsafe_integer);
  for (const auto* item : {"1bffffffffffffffff", "3bffffffffffffffff"})
    EXPECT_EQ(hazard_of(writer{}.put_raw(tests::decode_hex(item).value())),
              json_hazard::unsafe_integer);
}

TEST(RecordJsonTest, LinksOfOtherFormsKeepTheirText) {
  const auto dag_pb
    = cid::from_text(
        "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi")
        .value();
  EXPECT_EQ(to_json(writer{}.put_link(dag_pb)),
            R"({"x":{"$link":")" + dag_pb.to_text() + "\"}}");
  const auto v0 = cid::from_bytes(dag_pb.view().subspan(2)).value();
  EXPECT_EQ(
    to_json(writer{}.put_link(v0)),
    R"({"x":{"$link":"QmbWqxBEKC3P8tqsKc98xmWNzrzDtRLMiMPL8wBuTGsMnR"}})");
}

// limits::json_cid_text_max
TEST(RecordJsonTest, ALinkMustFitTheParserOfItsReaders) {
  const auto link_of_size = [](uint8_t size) {
    bytes binary{1, cid::codec_raw, 0, static_cast<uint8_t>(size - 4)};
    binary.resize(size);
    return cid::from_bytes(binary).value();
  };
  ASSERT_EQ(link_of_size(79).to_text().size(), limits::json_cid_text_max);
  EXPECT_EQ(hazard_of(writer{}.put_link(link_of_size(79))), json_hazard::none);
  EXPECT_EQ(hazard_of(writer{}.put_link(link_of_size(80))),
            json_hazard::bad_special);
}

// protocol-coverage.md 6.12
TEST(RecordJsonTest, BytesOfEverySizeAreBase64WithoutPadding) {
  for (size_t size = 0; size < 50; ++size) {
    const bytes plain(size, 0xfb);
    std::string text;
    append_base64(plain, text);
    EXPECT_EQ(to_json(writer{}.put_bytes(plain)),
              R"({"x":{"$bytes":")" + text + "\"}}");
  }
}

// -- strings ------------------------------------------------------------------

TEST(RecordJsonTest, EscapesKeysToo) {
  EXPECT_EQ(to_json(writer{}.begin_map(1).put_text("a\"\n").put_int(1).data()),
            R"({"a\"\n":1})");
}

// The output is larger than the first estimate.
TEST(RecordJsonTest, GrowsWithWhatItWrites) {
  for (const auto size : {1u, 100u, 20'000u}) {
    writer many;
    many.begin_array(size);
    std::string expected = R"({"x":[)";
    for (auto i = size; i > 0; --i) {
      many.put_bytes({});
      expected += i > 1 ? R"({"$bytes":""},)" : R"({"$bytes":""})";
    }
    EXPECT_EQ(to_json(many), expected + "]}");
    const std::string control(size, '\x02');
    const auto out = to_json(writer{}.put_text(control));
    EXPECT_EQ(out.size(), 8 + 6 * size);
  }
}

// -- errors -------------------------------------------------------------------

TEST(RecordJsonTest, ARecordIsAMap) {
  for (const auto* item : {"80", "00", "6161", "f6", "4100"})
    EXPECT_EQ(to_json(tests::decode_hex(item).value()),
              "malformed: dag-cbor: item of another kind expected at byte "
                + std::to_string(std::string_view{item}.size() / 2))
      << item;
}

TEST(RecordJsonTest, IsAsStrictAsValidate) {
  for (const auto* record :
       {"", "a1", "a16161", "a161611800", "a2616200616100", "a2616100616100",
        "a1616161ff", "a161 61f7", "a16161f93c00", "a16161fb7ff8000000000000",
        "a1616100a0", "a16161d82a4100", "a10000", "bf616100ff"}) {
    std::string hex{record};
    std::erase(hex, ' ');
    std::string out = "x";
    const auto verdict = append_record_json(tests::decode_hex(hex).value(), out);
    ASSERT_FALSE(verdict) << record;
    EXPECT_EQ(verdict.error().code, ec::malformed) << record;
    EXPECT_EQ(out, "x");
  }
}

TEST(RecordJsonTest, NestingEndsAtItsLimit) {
  const auto nested = [](size_t depth) {
    writer out;
    for (size_t i = 1; i < depth; ++i)
      out.begin_map(1).put_text("a");
    return out.begin_map(0).take();
  };
  EXPECT_EQ(hazard_of(nested(limits::cbor_depth_max)), json_hazard::none);
  std::string out;
  EXPECT_EQ(
    append_record_json(nested(limits::cbor_depth_max + 1), out).error().code,
    ec::limit_reached);
}

// -- hazards ------------------------------------------------------------------

// protocol-coverage.md 6.7
TEST(RecordHazardTest, FloatsAreFoundAtAnyDepth) {
  EXPECT_EQ(hazard_of(writer{}.put_double(1.5)), json_hazard::floating_point);
  EXPECT_EQ(hazard_of(writer{}.begin_array(1).begin_array(1).put_double(2.0)),
            json_hazard::floating_point);
}

TEST(RecordHazardTest, TheKeyThatPollutesPrototypesIsForbidden) {
  EXPECT_EQ(hazard_of(writer{}.begin_map(1).put_text("__proto__").put_null()),
            json_hazard::forbidden_key);
  EXPECT_EQ(hazard_of(writer{}.begin_map(1).put_text("__proto_").put_null()),
            json_hazard::none);
}

TEST(RecordHazardTest, ALaterFaultStillIsAnError) {
  std::string out;
  EXPECT_FALSE(append_record_json(
    tests::decode_hex("a26161fb3ff00000000000006162f7").value(), out));
  EXPECT_TRUE(out.empty());
}

// protocol-coverage.md 6.12
TEST(RecordHazardTest, TextThatReadsAsALinkPassesAsItIs) {
  const auto text_link = [](std::string_view text) {
    return hazard_of(writer{}.begin_map(1).put_text("$link").put_text(text));
  };
  EXPECT_EQ(text_link(raw_link.to_text()), json_hazard::none);
  for (const auto* text : {"", ".", "bafy", "QmbWqx"})
    EXPECT_EQ(text_link(text), json_hazard::bad_special) << text;
  EXPECT_EQ(
    hazard_of(writer{}.begin_map(1).put_text("$link").put_link(raw_link)),
    json_hazard::bad_special);
  EXPECT_EQ(
    hazard_of(
      writer{}.begin_map(2).put_text("a").put_null().put_text("$link").put_text(
        raw_link.to_text())),
    json_hazard::bad_special);
}

TEST(RecordHazardTest, TextThatReadsAsBytesPassesAsItIs) {
  const auto text_bytes = [](std::string_view text) {
    return hazard_of(writer{}.begin_map(1).put_text("$bytes").put_text(text));
  };
  EXPECT_EQ(text_bytes(""), json_hazard::none);
  EXPECT_EQ(text_bytes("AQIDBA"), json_hazard::none);
  EXPECT_EQ(text_bytes("AQIDBA=="), json_hazard::none);
  EXPECT_EQ(text_bytes("AQI!"), json_hazard::bad_special);
  EXPECT_EQ(hazard_of(writer{}.begin_map(1).put_text("$bytes").put_int(1)),
            json_hazard::bad_special);
}

TEST(RecordHazardTest, TheRecordItselfMustStayAMap) {
  EXPECT_EQ(
    hazard_of(writer{}.begin_map(1).put_text("$bytes").put_text("AQ").data()),
    json_hazard::bad_special);
}

// protocol-coverage.md 6.11
TEST(RecordHazardTest, ATypeIsTextAndNotEmpty) {
  const auto typed = [](writer& type) {
    return hazard_of(
      writer{}.begin_map(1).put_text("$type").put_raw(type.data()));
  };
  EXPECT_EQ(typed(writer{}.put_text("a.b.c")), json_hazard::none);
  EXPECT_EQ(typed(writer{}.put_text("blobs")), json_hazard::none);
  EXPECT_EQ(typed(writer{}.put_text(std::string(300, 'x'))), json_hazard::none);
  EXPECT_EQ(typed(writer{}.put_text("")), json_hazard::bad_special);
  EXPECT_EQ(typed(writer{}.put_null()), json_hazard::bad_special);
  EXPECT_EQ(typed(writer{}.put_int(1)), json_hazard::bad_special);
  EXPECT_EQ(typed(writer{}.begin_map(0)), json_hazard::bad_special);
}

// protocol-coverage.md 6.11
TEST(RecordHazardTest, OtherDollarKeysAreIgnored) {
  EXPECT_EQ(
    hazard_of(
      writer{}.begin_map(2).put_text("$").put_int(1).put_text("$other").put_int(
        2)),
    json_hazard::none);
}

// protocol-coverage.md 6.11
TEST(RecordHazardTest, ABlobHasItsFourParts) {
  const auto one = writer{}.put_int(1).take();
  const auto png = writer{}.put_text("image/png").take();
  const auto ref = writer{}.put_link(raw_link).take();
  EXPECT_EQ(hazard_of(blob(ref, one, png)), json_hazard::none);
  EXPECT_EQ(hazard_of(blob(ref, writer{}.put_int(0).data(), png)),
            json_hazard::none);
  EXPECT_EQ(hazard_of(blob(ref, writer{}.put_int(-1).data(), png)),
            json_hazard::bad_special);
  EXPECT_EQ(hazard_of(blob(ref, writer{}.put_text("1").data(), png)),
            json_hazard::bad_special);
  EXPECT_EQ(hazard_of(blob(ref, one, writer{}.put_text("png").data())),
            json_hazard::bad_special);
  EXPECT_EQ(hazard_of(blob(ref, one, one)), json_hazard::bad_special);
  EXPECT_EQ(hazard_of(blob_with_ref(
              writer{}.put_link(cid::of_dag_cbor(as_bytes("x"))))),
            json_hazard::bad_special);
  EXPECT_EQ(hazard_of(blob_with_ref(writer{}.put_text("bafkrei"))),
            json_hazard::bad_special);
  EXPECT_EQ(hazard_of(writer{}.begin_map(1).put_text("$type").put_text("blob")),
            json_hazard::bad_special);
}

TEST(RecordHazardTest, ABlobHasNothingElse) {
  writer out;
  out.begin_map(1).put_text("x").begin_map(5);
  out.put_text("alt").put_text("a picture");
  out.put_text("ref").put_link(raw_link).put_text("size").put_int(1);
  out.put_text("$type").put_text("blob");
  out.put_text("mimeType").put_text("image/png");
  EXPECT_EQ(hazard_of(out.data()), json_hazard::bad_special);
}

// protocol-coverage.md 6.11: accepted, but never written.
TEST(RecordHazardTest, ALegacyBlobIsAMapLikeAnyOther) {
  EXPECT_EQ(hazard_of(writer{}
                        .begin_map(2)
                        .put_text("cid")
                        .put_text("bafkrei")
                        .put_text("mimeType")
                        .put_text("image/png")),
            json_hazard::none);
}

TEST(RecordHazardTest, ASpecialMapDoesNotShadowItsNeighbours) {
  const auto good
    = writer{}.begin_map(1).put_text("$bytes").put_text("AQ").take();
  const auto bad
    = writer{}.begin_map(1).put_text("$bytes").put_text("A").take();
  EXPECT_EQ(hazard_of(writer{}
                        .begin_array(3)
                        .put_raw(good)
                        .begin_map(1)
                        .put_text("a")
                        .put_int(1)
                        .put_raw(good)),
            json_hazard::none);
  EXPECT_EQ(hazard_of(writer{}.begin_array(2).put_raw(good).put_raw(bad)),
            json_hazard::bad_special);
}

} // namespace weir::atproto

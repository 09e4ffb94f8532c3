#include "atproto/base_encodings.hpp"
#include "atproto/car.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/did_document.hpp"
#include "atproto/frame.hpp"
#include "atproto/identifiers.hpp"
#include "atproto/limits.hpp"
#include "atproto/record.hpp"
#include "atproto/record_json.hpp"
#include "tests/fuzz/sample_network.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/foreign_forms.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace weir::fuzz {

namespace {

using namespace atproto;

// -- DAG-CBOR -----------------------------------------------------------------

/// Reads one item and writes it again. False where the reader accepts less than
/// `validate`: for integers beyond int64.
bool rewrite(cbor::reader& in, cbor::writer& out) {
  using enum tests::cbor_kind;
  switch (tests::peek(in).value()) {
    case unsigned_int:
    case negative_int: {
      const auto x = in.read_int();
      if (!x)
        return false;
      out.put_int(*x);
      return true;
    }
    case byte_string:
      out.put_bytes(in.read_bytes().value());
      return true;
    case text_string:
      out.put_text(in.read_text().value());
      return true;
    case array: {
      const auto n = in.read_array().value();
      out.begin_array(n);
      for (size_t i = 0; i < n; ++i)
        if (!rewrite(in, out))
          return false;
      return true;
    }
    case map: {
      const auto n = in.read_map().value();
      out.begin_map(n);
      for (size_t i = 0; i < n; ++i) {
        out.put_text(in.read_text().value());
        if (!rewrite(in, out))
          return false;
      }
      return true;
    }
    case link:
      out.put_link(in.read_link().value());
      return true;
    case boolean:
      out.put_bool(in.read_bool().value());
      return true;
    case null:
      require(in.try_null(), "null is read");
      out.put_null();
      return true;
    default:
      out.put_double(tests::read_double(in));
      return true;
  }
}

void check_json(bytes_view input, bool valid) {
  std::string json{"before"};
  const auto hazard = append_record_json(input, json);
  if (!hazard || *hazard != json_hazard::none) {
    require(json == "before", "a refused record leaves the text alone");
    return;
  }
  require(valid, "only a valid record becomes JSON");
  boost::system::error_code failed;
  boost::json::parse_options options;
  options.max_depth = 256;
  boost::json::parse(std::string_view{json}.substr(6), failed, {}, options);
  require(!failed, "a record becomes well-formed JSON");
}

/// Strict decoding, encoding to the same bytes, and JSON (protocol-coverage.md
/// 6).
void run_cbor(bytes_view input) {
  cbor::rules rules;
  rules.depth_max = limits::cbor_depth_max;
  rules.allow_floats = true;
  const auto strict = cbor::validate(input, rules).has_value();
  if (strict) {
    cbor::reader in{input};
    cbor::writer out;
    if (rewrite(in, out)) {
      require(in.at_end(), "a valid item is read to its end");
      require(std::ranges::equal(out.data(), input),
              "a valid item has one encoding");
    }
  }
  rules.canonical_order = false;
  const auto loose = cbor::validate(input, rules).has_value();
  require(loose || !strict || input.size() > 256,
          "order alone is what loose rules give up");
  cbor::reader skipping{input};
  const auto skipped = skipping.skip(limits::cbor_depth_max);
  require(skipped || !strict, "a valid item can be skipped");
  require(!is_record(input) || strict, "a record is a valid item");
  check_json(input, strict);
}

std::vector<bytes> cbor_seeds() {
  auto out = sample().records;
  out.insert(out.end(), sample().nodes.begin(), sample().nodes.end());
  return out;
}

// -- CAR ----------------------------------------------------------------------

struct car_reading {
  bool good = false;
  std::vector<cid> roots;
  std::vector<std::pair<cid, bytes>> blocks;

  bool operator==(const car_reading&) const = default;
};

car_reading read_car(bytes_view car, uint8_t pattern) {
  car_reading out;
  car_reader reader{[&](const cid& id, bytes_view data, uint64_t at) {
    require(at + data.size() <= car.size()
              && std::ranges::equal(data, car.subspan(at, data.size())),
            "a block's place is where it stands");
    out.blocks.emplace_back(id, bytes{data.begin(), data.end()});
    return result<void>{};
  }};
  out.good = true;
  in_pieces(car, pattern, [&](bytes_view piece) {
    return out.good = reader.feed(piece).has_value();
  });
  out.good = out.good && reader.finish();
  out.roots = reader.roots();
  return out;
}

/// In one piece, in small pieces and as a slice the blocks are the same.
void run_car(bytes_view input) {
  if (input.empty())
    return;
  const auto car = input.subspan(1);
  const auto whole = read_car(car, 0);
  const auto pieces = read_car(car, input.front() | 1);
  require(whole == pieces, "a CAR reads the same in any pieces");
  const auto slice = car_slice::parse(car);
  const bool same_good = slice && slice->check_hashes();
  require(!same_good || whole.good, "a checked slice streams without error");
  if (!same_good)
    return;
  require(slice->roots() == whole.roots, "both see the same roots");
  for (const auto& [id, data] : whole.blocks) {
    const auto* block = slice->find(id);
    require(block != nullptr && std::ranges::equal(block->data, data),
            "a streamed block is found in the slice");
  }
}

std::vector<bytes> car_seeds() {
  auto out = sample().slices;
  out.insert(out.end(), sample().exports.begin(), sample().exports.end());
  for (auto& x : out)
    x.insert(x.begin(), static_cast<uint8_t>(x.size()));
  return out;
}

// -- frames -------------------------------------------------------------------

/// Bytes that decode have only one encoding (protocol-coverage.md 1 to 4).
void run_frame(bytes_view input) {
  const auto peek = peek_frame(input);
  const auto event = decode_frame(input);
  require(peek || !event, "a frame that decodes can be peeked at");
  if (!event)
    return;
  const auto encode = [](const frame_event& x) {
    return std::visit(
      [](const auto& y) {
        return encode_frame(y);
      },
      x);
  };
  const auto first = encode(*event);
  const auto again = decode_frame(first);
  require(again.has_value(), "an encoded frame decodes");
  require(again->index() == event->index(), "a frame keeps its kind");
  require(encode(*again) == first, "an event has one encoding");
}

std::vector<bytes> frame_seeds() {
  auto out = sample().frames;
  out.push_back(encode_frame(info_event{"OutdatedCursor", "behind"}));
  out.push_back(encode_frame(error_event{"FutureCursor", "ahead"}));
  return out;
}

// -- text ---------------------------------------------------------------------

void run_did_document(bytes_view input) {
  const auto text = as_text(input);
  // The document's own id if it begins with one, so that every document can be
  // accepted.
  auto expected = did::trusted("did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  if (const auto at = text.find("did:"); at != std::string_view::npos)
    if (auto own = did::parse(text.substr(at, text.find('"', at) - at)))
      expected = *own;
  const auto document = parse_did_document(text, expected);
  if (!document)
    return;
  require(document->id == expected, "a document is this DID's");
  require(document->claimed_handle.empty()
            || valid_handle(document->claimed_handle),
          "a claimed handle is valid");
  require(document->signing_key.empty()
            || public_key::from_multikey(document->signing_key).has_value(),
          "a signing key is usable");
  require(
    document->pds.empty()
      || (document->pds.starts_with("http") && document->pds.back() != '/'),
    "an origin has a scheme and no slash at its end");
}

std::vector<bytes> did_document_seeds() {
  return sample().documents;
}

void check_encodings(std::string_view x) {
  std::string out;
  const auto binary = as_bytes(x);
  append_base32(binary, out);
  require(decode_base32(out) == to_bytes(x), "base32 comes back");
  out.clear();
  append_base64(binary, out);
  require(decode_base64(out) == to_bytes(x), "base64 comes back");
  if (const auto back = decode_base32(x)) {
    out.clear();
    append_base32(*back, out);
    require(out == x, "base32 has one spelling");
  }
  if (const auto back = decode_base58(x); back && !x.empty())
    require(encode_base58(*back) == x, "base58 has one spelling");
  if (const auto id = cid::from_text(x))
    require(id->to_text() == x, "a CID has one spelling");
  if (const auto id = cid::from_bytes(binary))
    require(std::ranges::equal(id->view(), binary), "a CID keeps its bytes");
}

/// Syntax of identifiers (protocol-coverage.md 0) and the alphabets that they
/// use.
void run_identifiers(bytes_view input) {
  const auto x = as_text(input);
  if (const auto parsed = did::parse(x))
    require(valid_did(x) && parsed->str() == x
              && x.size() <= limits::did_bytes_max,
            "a DID is kept as it is");
  require(!supported_did(x) || valid_did(x), "a supported DID is a DID");
  require(!valid_handle(x)
            || (x.size() <= limits::handle_bytes_max
                && x.find('.') != std::string_view::npos),
          "a handle is short and has a dot");
  require(!valid_nsid(x)
            || (x.size() <= limits::nsid_bytes_max
                && std::ranges::count(x, '.') >= 2),
          "an NSID is short and has three parts");
  require(!valid_record_key(x)
            || (x.size() <= limits::record_key_bytes_max && x != "."
                && x != ".." && x.find('/') == std::string_view::npos),
          "a record key is short and no way up");
  if (valid_repo_path(x)) {
    const auto parts = split_path(x);
    require(valid_nsid(parts.collection) && valid_record_key(parts.rkey)
              && parts.collection.size() + 1 + parts.rkey.size() == x.size(),
            "a path is an NSID and a record key");
  }
  if (const auto parsed = tid::parse(x))
    require(parsed->str() == x, "a TID has one spelling");
  const auto moment = parse_datetime(x);
  require(!moment || x.size() >= std::string_view{"0000-00-00T00:00:00Z"}.size(),
          "a moment has date and time");
  check_encodings(x);
}

std::vector<bytes> identifier_seeds() {
  std::vector<bytes> out;
  for (const auto* x :
       {"did:plc:ewvi7nxzyoun6zhxrhs64oiz", "did:web:localhost%3A2583",
        "did:web:a.example.com", "alice.example.com", "app.bsky.feed.post",
        "app.bsky.feed.post/3jzfcijpj2z2a", "3jzfcijpj2z2a", "self",
        "2026-01-01T00:00:00.000Z", "1985-04-12T23:20:50.123+01:45",
        "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm",
        "zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme", "00ff10"})
    out.push_back(to_bytes(x));
  return out;
}

constexpr target group[] = {
  {"cbor", run_cbor, cbor_seeds},
  {"car", run_car, car_seeds},
  {"frame", run_frame, frame_seeds},
  {"did_document", run_did_document, did_document_seeds},
  {"identifiers", run_identifiers, identifier_seeds},
};

} // namespace

std::span<const target> codec_targets() {
  return group;
}

} // namespace weir::fuzz

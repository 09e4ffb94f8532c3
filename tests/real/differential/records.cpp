#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "atproto/record.hpp"
#include "atproto/record_json.hpp"
#include "tests/real/differential/cases.hpp"
#include "tests/real/differential/random_cbor.hpp"

#include <boost/json/value.hpp>

namespace weir::differential {

using namespace atproto;

namespace {

/// The text of an error without the place.
std::string reason_of(const error& x) {
  return x.context.substr(0, x.context.find(" at byte "));
}

std::string refusal_of(bytes_view block) {
  if (block.size() > limits::record_bytes_max)
    return "record too large";
  cbor::rules rules;
  rules.depth_max = limits::cbor_depth_max;
  const auto valid = cbor::validate(block, rules);
  return valid ? "record is not a map" : reason_of(valid.error());
}

const char* name_of(json_hazard x) {
  switch (x) {
    case json_hazard::none:
      return "none";
    case json_hazard::unsafe_integer:
      return "unsafe integer";
    case json_hazard::floating_point:
      return "float";
    case json_hazard::forbidden_key:
      return "forbidden key";
    case json_hazard::bad_special:
      return "bad special";
  }
  return "unknown";
}

test_case judged(std::string what, bytes block, std::string pins = {}) {
  test_case out{"record", std::move(what), std::move(pins), {}, {}, {}};
  out.ours["ok"] = is_record(block);
  if (is_record(block)) {
    std::string json;
    const auto hazard = append_record_json(block, json);
    out.ours["hazard"] = hazard ? name_of(*hazard) : "refused";
    if (hazard && *hazard == json_hazard::none)
      out.ours["json"] = json;
  } else {
    out.ours["reason"] = refusal_of(block);
  }
  out.payload = std::move(block);
  return out;
}

/// A map of one entry: `{"a": item}`.
bytes map_of(std::string_view key, std::string_view item) {
  bytes out{0xa1};
  put_head(out, 3, key.size());
  put(out, key);
  put(out, item);
  return out;
}

bytes nested(size_t depth) {
  bytes out{0xa1, 0x61, 'a'};
  out.insert(out.end(), depth - 1, 0x81);
  out.push_back(0x01);
  return out;
}

bytes wide(size_t elements) {
  bytes out{0xa1, 0x61, 'a'};
  put_head(out, 4, elements);
  out.insert(out.end(), elements, 0xf6);
  return out;
}

/// The one key that their decoder does not see when it is repeated.
bytes repeated_proto() {
  auto out = map_of("__proto__", "\x01");
  out.insert(out.end(), out.begin() + 1, out.end());
  out.front() = 0xa2;
  return out;
}

/// A record of `size` bytes.
bytes large(size_t size) {
  bytes out{0xa1, 0x61, 'a'};
  put_head(out, 2, size - 8);
  out.resize(size);
  return out;
}

/// A link to the bytes of a CID whose version is 0.
bytes odd_link() {
  bytes out{0xa1, 0x61, 'a', 0xd8, 42, 0x58, 37, 0, 0, 0x55, 0x12, 0x20};
  out.resize(out.size() + 32, 7);
  return out;
}

/// A link whose CID has a hash of 64 bytes.
bytes long_link() {
  bytes out{0xa1, 0x61, 'a', 0xd8, 42};
  put_head(out, 2, 69);
  put(out, {0, 1, 0x71, 0x13, 64});
  out.insert(out.end(), 64, 7);
  return out;
}

} // namespace

test_case random_record(random_source& random) {
  const auto way = random.below(10);
  if (way < 3)
    return judged("sound", cbor_grower{random}.record());
  if (way < 7)
    return judged("broken item", cbor_grower{random, static_cast<unsigned>(
                                                       2 + random.below(12))}
                                   .record());
  auto block = cbor_grower{random}.record();
  mutate(block, random);
  return judged("mutated bytes", std::move(block));
}

std::vector<test_case> pinned_records() {
  using namespace std::string_view_literals;
  std::vector<test_case> out;
  const auto add = [&out](const char* pins, bytes block) {
    out.push_back(judged("pinned", std::move(block), pins));
  };
  add("unsorted keys", {0xa2, 0x61, 'b', 1, 0x61, 'a', 1});
  add("float", map_of("a", "\xfb\x3f\xf8\0\0\0\0\0\0"sv));
  add("float", map_of("a", "\xf9\x3e\0"sv));
  add("float", map_of("a", "\xfa\x3f\xc0\0\0"sv));
  add("float", map_of("a", "\xfb\x80\0\0\0\0\0\0\0"sv));
  add("undefined", map_of("a", "\xf7"));
  add("text is not UTF-8", map_of("a", "\x62\xc0\xaf"));
  add("nested too deep", nested(64));
  add("too many elements", wide(limits::cbor_container_max + 1));
  add("map key too long",
      map_of(std::string(limits::cbor_map_key_bytes_max + 1, 'k'), "\x01"));
  add("key __proto__", map_of("__proto__", "\x01"));
  add("key __proto__", repeated_proto());
  add("byte order mark", map_of("a", "\x63\xef\xbb\xbf"));
  add("link to no CID", odd_link());
  add("record too large", large(limits::record_bytes_max + 1));
  // Both give the same result for these.
  add("", large(limits::record_bytes_max));
  add("", nested(63));
  add("", wide(limits::cbor_container_max));
  add("", map_of("a", "\xf9\x7e\0"sv));
  add("", map_of("a", "\xfb\x7f\xf0\0\0\0\0\0\0"sv));
  add("", map_of("a", "\x1b\0\x20\0\0\0\0\0\0"sv));
  add("", map_of("a", "\x3b\xff\xff\xff\xff\xff\xff\xff\xff"));
  add("", map_of("a", "\x18\x17"));
  add("", map_of("a", "\xc1\x01"));
  add("", {0xa2, 0x61, 'a', 1, 0x61, 'a', 1});
  add("", {0x80});
  add("", {0xa0, 0x00});
  add("", {0xa0});
  add("", {});
  add("", long_link());
  return out;
}

} // namespace weir::differential

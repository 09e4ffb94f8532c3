#include "atproto/cbor_item.hpp"

namespace weir::atproto::cbor {

namespace {

struct fault_text {
  ec code;
  const char* text;
};

fault_text describe(fault what) noexcept {
  switch (what) {
    case fault::none:
      break;
    case fault::truncated:
      return {ec::malformed, "ends inside an item"};
    case fault::reserved:
      return {ec::malformed, "reserved initial byte"};
    case fault::indefinite:
      return {ec::malformed, "indefinite length"};
    case fault::not_shortest:
      return {ec::malformed, "number not in its shortest form"};
    case fault::too_long:
      return {ec::malformed, "length beyond the end"};
    case fault::bad_utf8:
      return {ec::malformed, "text is not UTF-8"};
    case fault::foreign_tag:
      return {ec::malformed, "tag other than 42"};
    case fault::bad_link:
      return {ec::malformed, "tag 42 without a CID"};
    case fault::bad_simple:
      return {ec::malformed, "simple value other than false, true, null"};
    case fault::bad_float:
      return {ec::malformed, "float"};
    case fault::key_not_text:
      return {ec::malformed, "map key is not text"};
    case fault::key_order:
      return {ec::malformed, "map keys out of order"};
    case fault::key_repeated:
      return {ec::malformed, "map key repeated"};
    case fault::trailing:
      return {ec::malformed, "bytes behind the item"};
    case fault::wrong_kind:
      return {ec::malformed, "item of another kind expected"};
    case fault::integer_range:
      return {ec::malformed, "integer beyond 64 bits with sign"};
    case fault::depth_limit:
      return {ec::limit_reached, "containers nested too deep"};
    case fault::container_limit:
      return {ec::limit_reached, "too many elements in a container"};
    case fault::key_limit:
      return {ec::limit_reached, "map key too long"};
    case fault::unsorted_limit:
      return {ec::limit_reached, "too many entries in an unsorted map"};
  }
  return {ec::malformed, "no fault"};
}

} // namespace

error to_error(fault what, size_t at) {
  const auto [code, text] = describe(what);
  return fail(code, "dag-cbor: " + std::string{text} + " at byte "
                      + std::to_string(at));
}

fault take_long_head(const uint8_t*& at, const uint8_t* end,
                     item_head& out) noexcept {
  if (out.info > 27)
    return out.info == 31 ? fault::indefinite : fault::reserved;
  const auto size = size_t{1} << (out.info - 24);
  if (static_cast<size_t>(end - at) < size)
    return fault::truncated;
  out.value = 0;
  for (size_t i = 0; i < size; ++i)
    out.value = out.value << 8 | *at++;
  if (out.major == major_simple) {
    if (out.info == simple_double)
      return fault::none;
    return out.info == 24 ? fault::bad_simple : fault::bad_float;
  }
  const bool shortest
    = size == 1 ? out.value >= 24 : out.value >> (size * 4) != 0;
  return shortest ? fault::none : fault::not_shortest;
}

fault take_link(const uint8_t*& at, const uint8_t* end, uint64_t tag,
                bytes_view& out) noexcept {
  if (tag != tag_link)
    return fault::foreign_tag;
  item_head head;
  if (auto what = take_head(at, end, head); what != fault::none)
    return what;
  if (head.major != major_bytes)
    return fault::bad_link;
  if (auto what = take_bytes(at, end, head.value, out); what != fault::none)
    return what;
  if (out.size() < 2 || out.front() != 0)
    return fault::bad_link;
  out = out.subspan(1);
  return cid::measure(out) == out.size() ? fault::none : fault::bad_link;
}

} // namespace weir::atproto::cbor

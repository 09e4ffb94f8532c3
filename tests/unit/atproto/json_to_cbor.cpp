#include "tests/unit/atproto/json_to_cbor.hpp"

#include "atproto/base_encodings.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace weir::atproto {

namespace {

namespace json = boost::json;

std::string_view view(json::string_view x) {
  return {x.data(), x.size()};
}

bool put_special(const json::object& x, cbor::writer& out) {
  if (x.size() != 1 || !x.begin()->value().is_string())
    return false;
  const auto text = view(x.begin()->value().get_string());
  if (x.begin()->key() == "$link")
    if (const auto id = cid::from_text(text)) {
      out.put_link(*id);
      return true;
    }
  if (x.begin()->key() == "$bytes")
    if (const auto binary = decode_base64(text)) {
      out.put_bytes(*binary);
      return true;
    }
  return false;
}

void put(const json::value& x, cbor::writer& out);

void put_map(const json::object& x, cbor::writer& out) {
  if (put_special(x, out))
    return;
  std::vector<const json::key_value_pair*> members;
  for (const auto& member : x)
    members.push_back(&member);
  std::sort(members.begin(), members.end(), [](auto* a, auto* b) {
    return cbor::key_less(view(a->key()), view(b->key()));
  });
  out.begin_map(members.size());
  for (const auto* member : members) {
    out.put_text(view(member->key()));
    put(member->value(), out);
  }
}

void put(const json::value& x, cbor::writer& out) {
  switch (x.kind()) {
    case json::kind::null:
      out.put_null();
      break;
    case json::kind::bool_:
      out.put_bool(x.get_bool());
      break;
    case json::kind::int64:
      out.put_int(x.get_int64());
      break;
    case json::kind::uint64:
      out.put_int(static_cast<int64_t>(x.get_uint64()));
      break;
    case json::kind::double_:
      if (x.get_double() == std::floor(x.get_double()))
        out.put_int(static_cast<int64_t>(x.get_double()));
      else
        out.put_double(x.get_double());
      break;
    case json::kind::string:
      out.put_text(view(x.get_string()));
      break;
    case json::kind::array:
      out.begin_array(x.get_array().size());
      for (const auto& item : x.get_array())
        put(item, out);
      break;
    case json::kind::object:
      put_map(x.get_object(), out);
      break;
  }
}

} // namespace

bytes json_to_cbor(const json::value& x) {
  cbor::writer out;
  put(x, out);
  return out.take();
}

shared_bytes json_frame(const json::value& header, const json::value& body) {
  auto out = json_to_cbor(header);
  const auto payload = json_to_cbor(body);
  out.insert(out.end(), payload.begin(), payload.end());
  return shared_bytes{std::move(out)};
}

} // namespace weir::atproto

#include "atproto/dag_cbor.hpp"

#include "atproto/cbor_walk.hpp"

namespace weir::atproto::cbor {

namespace {

walk_rules to_walk_rules(const rules& x) noexcept {
  return {x.depth_max,
          x.canonical_order ? key_order::canonical : key_order::unique,
          x.allow_floats};
}

} // namespace

// -- validate -----------------------------------------------------------------

result<size_t> validate_prefix(bytes_view x, const rules& r) {
  null_visitor nothing;
  walker<null_visitor> walk{x, to_walk_rules(r), nothing};
  if (auto what = walk.run(); what != fault::none)
    return to_error(what, walk.position());
  return walk.position();
}

result<void> validate(bytes_view x, const rules& r) {
  const auto size = validate_prefix(x, r);
  if (!size)
    return size.error();
  if (*size != x.size())
    return to_error(fault::trailing, *size);
  return {};
}

// -- reader -------------------------------------------------------------------

result<uint64_t> reader::take(uint8_t major) {
  const auto* begin = all_.data();
  const auto* at = begin + at_;
  item_head head;
  if (auto what = take_head(at, begin + all_.size(), head); what != fault::none)
    return to_error(what, at_);
  if (head.major != major)
    return to_error(fault::wrong_kind, at_);
  at_ = static_cast<size_t>(at - begin);
  return head.value;
}

result<int64_t> reader::read_int() {
  const bool negative = !at_end() && all_[at_] >> 5 == major_negative;
  const auto start = at_;
  const auto n = take(negative ? major_negative : major_unsigned);
  if (!n)
    return n.error();
  if (*n > static_cast<uint64_t>(INT64_MAX))
    return to_error(fault::integer_range, start);
  const auto value = static_cast<int64_t>(*n);
  return negative ? -1 - value : value;
}

result<bool> reader::read_bool() {
  constexpr uint8_t false_byte = major_simple << 5 | simple_false;
  constexpr uint8_t true_byte = major_simple << 5 | simple_true;
  if (at_end())
    return to_error(fault::truncated, at_);
  const auto byte = all_[at_];
  if (byte != false_byte && byte != true_byte)
    return to_error(fault::wrong_kind, at_);
  ++at_;
  return byte == true_byte;
}

bool reader::try_null() noexcept {
  constexpr uint8_t null_byte = major_simple << 5 | simple_null;
  if (at_end() || all_[at_] != null_byte)
    return false;
  ++at_;
  return true;
}

result<std::string_view> reader::read_text() {
  const auto size = take(major_text);
  if (!size)
    return size.error();
  const auto* at = all_.data() + at_;
  std::string_view out;
  if (auto what = take_text(at, all_.data() + all_.size(), *size, out);
      what != fault::none)
    return to_error(what, at_);
  at_ += out.size();
  return out;
}

result<bytes_view> reader::read_bytes() {
  const auto size = take(major_bytes);
  if (!size)
    return size.error();
  const auto* at = all_.data() + at_;
  bytes_view out;
  if (auto what = take_bytes(at, all_.data() + all_.size(), *size, out);
      what != fault::none)
    return to_error(what, at_);
  at_ += out.size();
  return out;
}

result<cid> reader::read_link() {
  const auto tag = take(major_tag);
  if (!tag)
    return tag.error();
  const auto* at = all_.data() + at_;
  bytes_view binary;
  if (auto what = take_link(at, all_.data() + all_.size(), *tag, binary);
      what != fault::none)
    return to_error(what, at_);
  at_ = static_cast<size_t>(at - all_.data());
  return cid::from_bytes(binary);
}

result<size_t> reader::read_array() {
  return read_count(major_array, 1);
}

result<size_t> reader::read_map() {
  return read_count(major_map, 2);
}

result<size_t> reader::read_count(uint8_t major, size_t item_bytes_min) {
  const auto n = take(major);
  if (!n)
    return n.error();
  if (*n > (all_.size() - at_) / item_bytes_min)
    return to_error(fault::too_long, at_);
  if (*n > limits::cbor_container_max)
    return to_error(fault::container_limit, at_);
  return static_cast<size_t>(*n);
}

result<bytes_view> reader::skip(size_t depth_max) {
  null_visitor nothing;
  walker<null_visitor> walk{
    rest(), {depth_max, key_order::unchecked, true}, nothing};
  if (auto what = walk.run(); what != fault::none)
    return to_error(what, at_ + walk.position());
  const auto out = all_.subspan(at_, walk.position());
  at_ += out.size();
  return out;
}

// -- writer -------------------------------------------------------------------

void writer::put_head(uint8_t major, uint64_t n) {
  const auto top = static_cast<uint8_t>(major << 5);
  if (n < 24) {
    out_.push_back(static_cast<uint8_t>(top | n));
    return;
  }
  const auto size_log2 = n <= 0xff         ? 0u
                         : n <= 0xffff     ? 1u
                         : n <= 0xffffffff ? 2u
                                           : 3u;
  out_.push_back(static_cast<uint8_t>(top | (24 + size_log2)));
  for (auto shift = 8u << size_log2; shift != 0;)
    out_.push_back(static_cast<uint8_t>(n >> (shift -= 8)));
}

writer& writer::put_int(int64_t x) {
  if (x < 0)
    put_head(major_negative, static_cast<uint64_t>(-1 - x));
  else
    put_head(major_unsigned, static_cast<uint64_t>(x));
  return *this;
}

writer& writer::put_bool(bool x) {
  put_head(major_simple, x ? simple_true : simple_false);
  return *this;
}

writer& writer::put_null() {
  put_head(major_simple, simple_null);
  return *this;
}

writer& writer::put_text(std::string_view x) {
  put_head(major_text, x.size());
  return put_raw(as_bytes(x));
}

writer& writer::put_bytes(bytes_view x) {
  put_head(major_bytes, x.size());
  return put_raw(x);
}

writer& writer::put_link(const cid& x) {
  const auto binary = x.view();
  put_head(major_tag, tag_link);
  put_head(major_bytes, binary.size() + 1);
  out_.push_back(0);
  return put_raw(binary);
}

writer& writer::put_link_or_null(const cid& x) {
  return x.defined() ? put_link(x) : put_null();
}

writer& writer::put_double(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  out_.push_back(major_simple << 5 | simple_double);
  for (auto shift = 64u; shift != 0;)
    out_.push_back(static_cast<uint8_t>(bits >> (shift -= 8)));
  return *this;
}

writer& writer::begin_array(size_t n) {
  put_head(major_array, n);
  return *this;
}

writer& writer::begin_map(size_t n) {
  put_head(major_map, n);
  return *this;
}

writer& writer::put_raw(bytes_view item) {
  out_.insert(out_.end(), item.begin(), item.end());
  return *this;
}

} // namespace weir::atproto::cbor

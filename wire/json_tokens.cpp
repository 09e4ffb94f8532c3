#include "wire/json_tokens.hpp"

#include "wire/limits.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>

namespace weir::wire {

namespace {

using boost::json::error_code;
using text_view = boost::json::string_view;

/// The size of the whole text limits each of its parts.
class token_handler {
public:
  static constexpr size_t max_object_size = SIZE_MAX;
  static constexpr size_t max_array_size = SIZE_MAX;
  static constexpr size_t max_key_size = SIZE_MAX;
  static constexpr size_t max_string_size = SIZE_MAX;

  token_handler(json_listener& to, size_t text_bytes_max)
    : to_(to), text_bytes_max_(text_bytes_max) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_number_part(text_view, error_code&) { return true; }
  bool on_comment_part(text_view, error_code&) { return true; }
  bool on_comment(text_view, error_code&) { return true; }
  bool on_object_end(size_t, error_code&) { return close(); }
  bool on_array_end(size_t, error_code&) { return close(); }
  bool on_key_part(text_view x, size_t, error_code&) { return keep(x); }
  bool on_string_part(text_view x, size_t, error_code&) { return keep(x); }

  bool on_object_begin(error_code&) {
    if (to_.depth > 0)
      to_.take_other();
    else
      is_object = true;
    ++to_.depth;
    return true;
  }

  bool on_array_begin(error_code&) {
    to_.begin_list();
    ++to_.depth;
    return true;
  }

  bool on_key(text_view x, size_t, error_code&) {
    keep(x);
    if (to_.depth == 1)
      to_.begin_member(text_);
    text_.clear();
    return true;
  }

  bool on_string(text_view x, size_t, error_code&) {
    keep(x);
    to_.take_text(text_);
    text_.clear();
    return true;
  }

  bool on_int64(int64_t x, text_view, error_code&) {
    to_.take_int(x);
    return true;
  }

  bool on_double(double x, text_view, error_code&) {
    to_.take_real(x);
    return true;
  }

  bool on_bool(bool x, error_code&) {
    to_.take_bool(x);
    return true;
  }

  bool on_uint64(uint64_t, text_view, error_code& x) { return on_null(x); }

  bool on_null(error_code&) {
    to_.take_other();
    return true;
  }

  bool is_object = false; ///< The text as a whole is one.

private:
  bool keep(text_view x) {
    text_.append(x.data(), std::min(x.size(), text_bytes_max_ - text_.size()));
    return true;
  }

  bool close() {
    --to_.depth;
    return true;
  }

  json_listener& to_;
  size_t text_bytes_max_;
  std::string text_; ///< The name or text that is being read.
};

boost::json::parse_options parse_rules() {
  boost::json::parse_options out;
  out.max_depth = limits::json_depth_max;
  return out;
}

} // namespace

struct json_parser::impl {
  boost::json::basic_parser<token_handler> parser;
  error_code failed;
};

json_parser::json_parser(json_listener& to, size_t text_bytes_max)
  : impl_(new impl{
    boost::json::basic_parser<token_handler>{parse_rules(), to, text_bytes_max},
    {}}) {}

json_parser::~json_parser() = default;

void json_parser::put(bool more, std::string_view piece) {
  auto& [parser, failed] = *impl_;
  if (failed)
    return;
  const auto used = parser.write_some(more, piece.data(), piece.size(), failed);
  if (!failed && used < piece.size())
    failed = boost::json::error::extra_data;
}

result<void> json_parser::check() const {
  const auto& [parser, failed] = *impl_;
  if (failed)
    return fail(ec::malformed, "no valid JSON: " + failed.message());
  if (!parser.handler().is_object)
    return fail(ec::malformed, "no JSON object");
  return {};
}

} // namespace weir::wire

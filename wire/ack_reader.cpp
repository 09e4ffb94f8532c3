#include "atproto/limits.hpp"
#include "wire/json_tokens.hpp"
#include "wire/limits.hpp"
#include "wire/tap.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <cmath>
#include <optional>
#include <string>

namespace weir::wire {

namespace {

namespace json = boost::json;
using text_view = json::string_view;

/// Sees every token of a message in order. So it notices a member that is there
/// twice, of which a parsed object would keep only one. The limit on the
/// message's size bounds everything here.
class ack_handler : public json_tokens {
public:
  bool on_object_begin(json::error_code&) {
    is_object = is_object || depth_ == 0;
    return open();
  }

  bool on_array_begin(json::error_code&) { return open(); }

  bool on_key_part(text_view x, size_t, json::error_code&) {
    text_.append(x.data(), x.size());
    return true;
  }

  bool on_key(text_view x, size_t, json::error_code&) {
    text_.append(x.data(), x.size());
    if (depth_ == 1)
      at_ = text_ == "type" ? member::type
            : text_ == "id" ? member::id
                            : member::other;
    text_.clear();
    if (depth_ == 1 && at_ == member::type)
      ++types;
    if (depth_ == 1 && at_ == member::id)
      ++ids;
    return true;
  }

  bool on_string_part(text_view x, size_t, json::error_code&) {
    if (is_value_of(member::type))
      text_.append(x.data(), x.size());
    return true;
  }

  bool on_string(text_view x, size_t, json::error_code&) {
    if (is_value_of(member::type))
      type = text_.append(x.data(), x.size());
    text_.clear();
    return true;
  }

  bool on_int64(int64_t x, text_view, json::error_code&) {
    if (is_value_of(member::id) && x > 0 && x <= limits::safe_integer_max)
      id = static_cast<uint64_t>(x);
    return true;
  }

  bool on_uint64(uint64_t, text_view, json::error_code&) { return true; }

  /// An id may also be written as 7.0 or 7e0.
  bool on_double(double x, text_view, json::error_code&) {
    constexpr auto top = static_cast<double>(limits::safe_integer_max);
    if (is_value_of(member::id) && x > 0 && x <= top && std::trunc(x) == x)
      id = static_cast<uint64_t>(x);
    return true;
  }

  bool on_bool(bool, json::error_code&) { return true; }
  bool on_null(json::error_code&) { return true; }
  bool is_object = false;
  size_t types = 0;
  size_t ids = 0;
  std::optional<std::string> type; ///< The last one that was read.
  std::optional<uint64_t> id;      ///< The last valid one.

private:
  enum class member : uint8_t { type, id, other };

  bool is_value_of(member x) const noexcept { return depth_ == 1 && at_ == x; }

  member at_ = member::other; ///< The member whose value is being read.
  std::string text_;          ///< The key or type that is being read.
};

} // namespace

result<std::optional<uint64_t>> parse_ack(std::string_view text) {
  if (text.size() > limits::channel_message_bytes_max)
    return fail(ec::limit_reached, "a message of a client is too long");
  json::parse_options options;
  options.max_depth = limits::json_depth_max;
  json::basic_parser<ack_handler> parser{options};
  json::error_code failed;
  const auto used = parser.write_some(false, text.data(), text.size(), failed);
  if (!failed && used < text.size())
    failed = json::error::extra_data;
  if (failed)
    return fail(ec::malformed, "no valid JSON: " + failed.message());
  const auto& x = parser.handler();
  if (!x.is_object)
    return fail(ec::malformed, "no JSON object");
  if (!x.type)
    return fail(ec::malformed, "a message without a type");
  if (x.types > 1)
    return fail(ec::malformed, "a message with \"type\" twice");
  if (*x.type != "ack")
    return std::nullopt;
  if (x.ids > 1)
    return fail(ec::malformed, "an ack with \"id\" twice");
  if (!x.id)
    return fail(ec::malformed, x.ids == 0
                                 ? "an ack without an id"
                                 : "an ack whose \"id\" is no number of "
                                   "an event, as a text is none");
  return x.id;
}

} // namespace weir::wire

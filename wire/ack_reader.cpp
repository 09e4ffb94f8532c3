#include "atproto/limits.hpp"
#include "wire/json_tokens.hpp"
#include "wire/limits.hpp"
#include "wire/tap.hpp"

#include <cmath>
#include <optional>
#include <string>

namespace weir::wire {

namespace {

/// The limit on the message's size bounds everything here.
class ack_handler final : public json_listener {
public:
  void take_int(int64_t x) override {
    if (is_value_of(member::id) && x > 0 && x <= limits::safe_integer_max)
      id = static_cast<uint64_t>(x);
  }

  /// An id may also be written as 7.0 or 7e0.
  void take_real(double x) override {
    constexpr auto top = static_cast<double>(limits::safe_integer_max);
    if (is_value_of(member::id) && x > 0 && x <= top && std::trunc(x) == x)
      id = static_cast<uint64_t>(x);
  }

  void begin_member(const std::string& name) override {
    at_ = name == "type" ? member::type
          : name == "id" ? member::id
                         : member::other;
    types += at_ == member::type ? 1 : 0;
    ids += at_ == member::id ? 1 : 0;
  }

  void take_text(std::string& x) override {
    if (is_value_of(member::type))
      type = x;
  }

  // How often each member is there: a parsed object would not tell.
  size_t types = 0;
  size_t ids = 0;
  std::optional<std::string> type; ///< The last one that was read.
  std::optional<uint64_t> id;      ///< The last valid one.

private:
  enum class member : uint8_t { type, id, other };

  bool is_value_of(member x) const noexcept { return depth == 1 && at_ == x; }

  member at_ = member::other; ///< The member whose value is being read.
};

} // namespace

result<std::optional<uint64_t>> parse_ack(std::string_view text) {
  if (text.size() > limits::channel_message_bytes_max)
    return fail(ec::limit_reached, "a message of a client is too long");
  ack_handler x;
  json_parser parser{x};
  parser.put(false, text);
  if (auto ok = parser.check(); !ok)
    return ok.error();
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

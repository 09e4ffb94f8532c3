#include "wire/letters_request.hpp"

#include "atproto/limits.hpp"
#include "base/parse_number.hpp"
#include "wire/body_members.hpp"
#include "wire/json_tokens.hpp"
#include "wire/limits.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace weir::wire {

namespace {

namespace json = boost::json;
using text_view = json::string_view;

constexpr size_t shown_max = 64; ///< Bytes shown of an unknown name or DID.

/// Indices into `letter_members`.
enum member : size_t { ids, did, all, cursor, none };

static_assert(letter_members.size() == none && letter_members[ids].name == "ids"
              && letter_members[did].name == "did"
              && letter_members[all].name == "all"
              && letter_members[cursor].name == "cursor");

constexpr std::array<std::string_view, none> values{
  "a list of ids of events", "a DID", "true", "as the answer before gave it"};

/// Sees every token of the text in order. The limit on the body's size bounds
/// everything here.
class letters_handler : public json_tokens {
public:
  bool on_object_begin(json::error_code&) {
    is_object = is_object || depth_ == 0;
    if (depth_++ > 0)
      is_wrong();
    return true;
  }

  bool on_array_begin(json::error_code&) {
    if (depth_++ != 1 || at_ != ids)
      is_wrong();
    return true;
  }

  bool on_key_part(text_view x, size_t, json::error_code&) {
    text_.append(x.data(), x.size());
    return true;
  }

  bool on_key(text_view x, size_t, json::error_code&) {
    text_.append(x.data(), x.size());
    const auto name = std::exchange(text_, {});
    if (depth_ != 1)
      return true; // Inside of a value that is wrong.
    at_ = static_cast<size_t>(
      std::ranges::find(letter_members, name, &body_member::name)
      - letter_members.begin());
    if (at_ == none) {
      if (!unknown)
        unknown = name.substr(0, shown_max);
    } else if (std::exchange(seen[at_], true) && !repeated) {
      repeated = name;
    }
    return true;
  }

  bool on_string_part(text_view x, size_t, json::error_code&) {
    text_.append(x.data(), x.size());
    return true;
  }

  bool on_string(text_view x, size_t, json::error_code&) {
    text_.append(x.data(), x.size());
    auto text = std::exchange(text_, {});
    if (depth_ == 1 && at_ == did)
      repo = std::move(text);
    else if (depth_ == 1 && at_ == cursor)
      after = std::move(text);
    else
      is_wrong();
    return true;
  }

  bool on_int64(int64_t x, text_view, json::error_code&) {
    if (depth_ != 2 || at_ != ids || x < 1 || x > limits::safe_integer_max)
      is_wrong();
    else if (++id_count <= limits::dead_letters_order_max)
      events.push_back(static_cast<uint64_t>(x));
    return true;
  }

  bool on_uint64(uint64_t, text_view, json::error_code&) { return is_wrong(); }

  bool on_double(double, text_view, json::error_code&) { return is_wrong(); }

  bool on_bool(bool x, json::error_code&) {
    return (depth_ == 1 && at_ == all && x) || is_wrong();
  }

  bool on_null(json::error_code&) { return is_wrong(); }

  bool is_object = false;
  std::optional<std::string> unknown;  ///< The first unknown member.
  std::optional<std::string> repeated; ///< The first repeated member.
  std::array<bool, none> seen{};
  std::array<bool, none + 1> wrong{};
  std::vector<uint64_t> events;
  size_t id_count = 0;
  std::string repo;
  std::string after;

private:
  /// Notes that the value of the current member has the wrong type.
  bool is_wrong() {
    wrong[at_] = true;
    return true;
  }

  size_t at_ = none; ///< The member whose value is being read.
  std::string text_; ///< The key or text that is being read.
};

error wrong_value(size_t i) {
  return fail(ec::invalid_argument, "\"" + std::string{letter_members[i].name}
                                      + "\" must be " + std::string{values[i]});
}

result<void> check(const letters_handler& x) {
  if (!x.is_object)
    return fail(ec::malformed, "no JSON object");
  if (x.unknown)
    return fail(ec::invalid_argument,
                unknown_member(*x.unknown, letter_members));
  if (x.repeated)
    return fail(ec::invalid_argument, "\"" + *x.repeated + "\" is there twice");
  for (size_t i = 0; i < none; ++i)
    if (x.wrong[i])
      return wrong_value(i);
  size_t choices = 0;
  for (size_t i = 0; i < none; ++i)
    if (x.seen[i] && letter_members[i].need == member_need::one_of)
      ++choices;
  if (choices != 1)
    return fail(ec::invalid_argument,
                R"(one of "ids", "did" and "all" must be there)");
  if (x.seen[ids] && x.seen[cursor])
    return fail(ec::invalid_argument, R"("cursor" is of "did" and "all")");
  if (x.id_count > limits::dead_letters_order_max)
    return fail(ec::limit_reached,
                "more than " + std::to_string(limits::dead_letters_order_max)
                  + " ids in one request");
  return {};
}

} // namespace

result<letters_request> parse_letters_request(std::string_view body) {
  json::parse_options options;
  options.max_depth = limits::json_depth_max;
  json::basic_parser<letters_handler> parser{options};
  json::error_code failed;
  const auto used = parser.write_some(false, body.data(), body.size(), failed);
  if (!failed && used < body.size())
    failed = json::error::extra_data;
  if (failed)
    return fail(ec::malformed, "no valid JSON: " + failed.message());
  auto& x = parser.handler();
  if (auto ok = check(x); !ok)
    return ok.error();
  letters_request out;
  out.all = !x.seen[ids];
  out.ids = std::move(x.events);
  std::ranges::sort(out.ids);
  const auto repeats = std::ranges::unique(out.ids);
  out.ids.erase(repeats.begin(), repeats.end());
  if (x.seen[did]) {
    if (!atproto::supported_did(x.repo))
      return fail(ec::invalid_argument,
                  "\"did\" must be a DID, and \"" + x.repo.substr(0, shown_max)
                    + "\" is none");
    out.repo = atproto::did::trusted(std::move(x.repo));
  }
  if (x.seen[cursor]) {
    const auto after = parse_number<uint64_t>(x.after);
    if (!after)
      return wrong_value(cursor);
    out.after = *after;
  }
  return out;
}

} // namespace weir::wire

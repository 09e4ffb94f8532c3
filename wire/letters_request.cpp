#include "wire/letters_request.hpp"

#include "atproto/limits.hpp"
#include "base/parse_number.hpp"
#include "wire/body_members.hpp"
#include "wire/json_tokens.hpp"
#include "wire/limits.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace weir::wire {

namespace {

constexpr size_t shown_max = 64; ///< Bytes shown of an unknown name or DID.

/// Indices into `letter_members`.
enum member : size_t { ids, did, all, cursor, none };

static_assert(letter_members.size() == none && letter_members[ids].name == "ids"
              && letter_members[did].name == "did"
              && letter_members[all].name == "all"
              && letter_members[cursor].name == "cursor");

constexpr std::array<std::string_view, none> values{
  "a list of ids of events", "a DID", "true", "as the answer before gave it"};

/// The limit on the body's size bounds everything here.
class letters_handler final : public json_listener {
public:
  void take_int(int64_t x) override {
    if (depth != 2 || at_ != ids || x < 1 || x > limits::safe_integer_max)
      take_other();
    else if (++id_count <= limits::dead_letters_order_max)
      events.push_back(static_cast<uint64_t>(x));
  }

  void take_bool(bool x) override {
    if (depth != 1 || at_ != all || !x)
      take_other();
  }

  void begin_member(const std::string& name) override {
    at_ = static_cast<size_t>(
      std::ranges::find(letter_members, name, &body_member::name)
      - letter_members.begin());
    if (at_ == none) {
      if (!unknown)
        unknown = name.substr(0, shown_max);
    } else if (std::exchange(seen[at_], true) && !repeated) {
      repeated = name;
    }
  }

  void begin_list() override {
    if (depth != 1 || at_ != ids)
      take_other();
  }

  void take_text(std::string& x) override {
    if (depth == 1 && at_ == did)
      repo = std::move(x);
    else if (depth == 1 && at_ == cursor)
      after = std::move(x);
    else
      take_other();
  }

  /// Notes that the value of the current member has the wrong type.
  void take_other() override { wrong[at_] = true; }

  std::optional<std::string> unknown;  ///< The first unknown member.
  std::optional<std::string> repeated; ///< The first repeated member.
  std::array<bool, none> seen{};
  std::array<bool, none + 1> wrong{};
  std::vector<uint64_t> events;
  size_t id_count = 0;
  std::string repo;
  std::string after;

private:
  size_t at_ = none; ///< The member whose value is being read.
};

error wrong_value(size_t i) {
  return fail(ec::invalid_argument, "\"" + std::string{letter_members[i].name}
                                      + "\" must be " + std::string{values[i]});
}

result<void> check(const letters_handler& x) {
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
  letters_handler x;
  json_parser parser{x};
  parser.put(false, body);
  if (auto ok = parser.check(); !ok)
    return ok.error();
  if (auto ok = check(x); !ok)
    return ok.error();
  letters_request out;
  out.all = !x.seen[ids];
  out.ids = std::move(x.events);
  std::ranges::sort(out.ids);
  out.ids.erase(std::unique(out.ids.begin(), out.ids.end()), out.ids.end());
  if (x.seen[did]) {
    if (!atproto::supported_did(x.repo))
      return fail(ec::invalid_argument, "\"did\" must be a DID, and \""
                                          + x.repo.substr(0, shown_max)
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

#include "wire/repos_request_reader.hpp"

#include "atproto/limits.hpp"
#include "wire/filter.hpp"
#include "wire/json_tokens.hpp"
#include "wire/limits.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weir::wire {

namespace {

/// Texts longer than this are neither DIDs nor patterns, so the rest of them is
/// dropped.
constexpr size_t text_bytes_max = limits::did_bytes_max + 1;
constexpr size_t pattern_bytes_max = limits::nsid_bytes_max + 3;
constexpr size_t key_bytes_max = 64; ///< Bytes shown of an unknown key.

error not_strings(std::string_view key, bool absent) {
  return fail(ec::invalid_argument, "\"" + std::string{key} + "\""
                                      + (absent ? " is missing; it" : "")
                                      + " must be a list of texts");
}

size_t heap_bytes(const std::string& x) noexcept {
  constexpr size_t allocation = 16;
  return x.capacity() + allocation;
}

/// Keeps the first of equal DIDs and their order.
void drop_repeats(std::vector<atproto::did>& x) {
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&x](size_t i) -> const std::string& {
    return x[i].str();
  });
  std::vector<bool> again(x.size());
  for (size_t i = 1; i < order.size(); ++i)
    again[order[i]] = x[order[i]] == x[order[i - 1]];
  size_t kept = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (!again[i] && kept++ != i)
      x[kept - 1] = std::move(x[i]);
  x.resize(kept);
}

/// Collects the texts under "dids".
class did_list {
public:
  void take(std::string_view text) {
    if (++count_ > limits::request_dids_max) {
      dids_.clear();
      dids_.shrink_to_fit();
      held_ = 0;
      return;
    }
    auto repo = atproto::did::parse(text);
    if (repo && atproto::supported_did(text)) {
      held_ += heap_bytes(repo->str());
      dids_.push_back(std::move(*repo));
    } else if (++bad_count_ <= limits::named_dids_max) {
      bad_.emplace_back(text.substr(0, limits::named_did_bytes_max));
    }
  }

  size_t held_bytes() const noexcept {
    return held_ + dids_.capacity() * sizeof(atproto::did);
  }

  result<std::vector<atproto::did>> finish() {
    if (count_ > limits::request_dids_max)
      return fail(ec::limit_reached,
                  "more than " + std::to_string(limits::request_dids_max)
                    + " DIDs in one request");
    if (bad_count_ > 0)
      return bad_dids();
    drop_repeats(dids_);
    return std::move(dids_);
  }

private:
  error bad_dids() const {
    auto text = std::to_string(bad_count_) + " of the DIDs cannot be used:";
    for (size_t i = 0; i < bad_.size(); ++i)
      text += (i == 0 ? " \"" : ", \"") + bad_[i] + "\"";
    return fail(
      ec::invalid_argument,
      text + (bad_count_ > bad_.size() ? ", ..." : "")
        + "; a DID is such as did:plc:ewvi7nxzyoun6zhxrhs64oiz (24 letters "
          "a to z and digits 2 to 7) or did:web:example.com (a domain "
          "without a path), and no handle");
  }

  std::vector<atproto::did> dids_;
  /// The first bad ones, as far as they are shown.
  std::vector<std::string> bad_;
  size_t count_ = 0;
  size_t bad_count_ = 0;
  size_t held_ = 0;
};

/// Collects the texts under "collections".
class pattern_list {
public:
  void take(std::string_view text) {
    if (patterns_.size() <= limits::filter_patterns_max) {
      patterns_.emplace_back(text.substr(0, pattern_bytes_max));
      held_ += sizeof(std::string) + heap_bytes(patterns_.back());
    }
  }

  size_t held_bytes() const noexcept { return held_; }

  result<std::vector<std::string>> finish() {
    auto filter = collection_filter::parse(std::move(patterns_));
    if (!filter)
      return filter.error();
    return filter->patterns();
  }

private:
  std::vector<std::string> patterns_;
  size_t held_ = 0;
};

/// What the body says about the value of one member.
enum class member_state : uint8_t { absent, list, wrong };

class request_handler final : public json_listener {
public:
  void begin_member(const std::string& name) override {
    state_ = nullptr;
    const auto known
      = std::ranges::find(members, name, &body_member::name) != members.end();
    if (known && name == "dids")
      state_ = &dids_state;
    else if (known && name == "collections")
      state_ = &collections_state;
    else if (!unknown)
      unknown = name.substr(0, key_bytes_max);
    if (state_ != nullptr
        && std::exchange(*state_, member_state::wrong) != member_state::absent
        && !repeated)
      repeated = name;
  }

  void begin_list() override {
    if (depth == 1 && state_ != nullptr)
      *state_ = member_state::list;
    else
      take_other();
  }

  void take_text(std::string& x) override {
    if (!in_list())
      take_other();
    else if (state_ == &dids_state)
      dids.take(x);
    else
      collections.take(x);
  }

  /// Handles a value that is neither such a list nor a text in one.
  void take_other() override {
    if (state_ != nullptr && (depth == 1 || in_list()))
      *state_ = member_state::wrong;
  }

  /// The state of a member of the table.
  member_state state_of(std::string_view name) const noexcept {
    return name == "dids" ? dids_state : collections_state;
  }

  std::span<const body_member> members; ///< All members that are allowed.
  std::optional<std::string> unknown;   ///< The first unknown member.
  std::optional<std::string> repeated;  ///< The first repeated member.
  did_list dids;
  pattern_list collections;
  member_state dids_state = member_state::absent;
  member_state collections_state = member_state::absent;

private:
  /// True inside of a list whose texts are wanted.
  bool in_list() const noexcept {
    return depth == 2 && state_ != nullptr && *state_ == member_state::list;
  }

  /// The state of the member being read; null if it is not wanted.
  member_state* state_ = nullptr;
};

} // namespace

struct repos_request_reader::parser {
  request_handler heard;
  json_parser text{heard, text_bytes_max};
};

repos_request_reader::repos_request_reader(std::span<const body_member> members)
  : parser_(std::make_unique<parser>()) {
  parser_->heard.members = members;
}

repos_request_reader::~repos_request_reader() = default;

void repos_request_reader::put(std::string_view piece) {
  parser_->text.put(true, piece);
}

size_t repos_request_reader::held_bytes() const noexcept {
  auto& x = parser_->heard;
  return x.dids.held_bytes() + x.collections.held_bytes();
}

result<repos_request> repos_request_reader::finish() {
  parser_->text.put(false, {});
  if (auto ok = parser_->text.check(); !ok)
    return ok.error();
  auto& x = parser_->heard;
  if (x.unknown)
    return fail(ec::invalid_argument, unknown_member(*x.unknown, x.members));
  if (x.repeated)
    return fail(ec::invalid_argument, "\"" + *x.repeated + "\" is there twice");
  for (const auto wanted : {member_state::wrong, member_state::absent})
    for (const auto& member : x.members)
      if (x.state_of(member.name) == wanted
          && (wanted == member_state::wrong
              || member.need == member_need::required))
        return not_strings(member.name, wanted == member_state::absent);
  auto repos = x.dids.finish();
  if (!repos)
    return repos.error();
  auto filter = x.collections.finish();
  if (!filter)
    return filter.error();
  return repos_request{std::move(*repos), std::move(*filter)};
}

} // namespace weir::wire

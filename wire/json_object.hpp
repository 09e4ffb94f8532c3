#pragma once

#include "atproto/record_json.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace weir::wire {

/// Appends one JSON object to a text, member by member, and ends it with its
/// own end. Names must need no escapes.
class json_object {
public:
  explicit json_object(std::string& out) : out_(out) { out_ += '{'; }

  ~json_object() { out_ += '}'; }

  json_object(const json_object&) = delete;
  json_object& operator=(const json_object&) = delete;

  /// Begins a member; its value must be appended next.
  std::string& member(std::string_view name) {
    out_ += out_.back() == '{' ? "\"" : ",\"";
    out_ += name;
    return out_ += "\":";
  }

  void null(std::string_view name) { member(name) += "null"; }

  void flag(std::string_view name, bool x) {
    member(name) += x ? "true" : "false";
  }

  void number(std::string_view name, uint64_t x) {
    member(name) += std::to_string(x);
  }

  /// Unix seconds; null for 0.
  void time(std::string_view name, int64_t x) {
    member(name) += x == 0 ? "null" : std::to_string(x);
  }

  void text(std::string_view name, std::string_view x) {
    atproto::append_json_string(x, member(name));
  }

  /// Nothing for an empty text.
  void text_if_any(std::string_view name, std::string_view x) {
    if (!x.empty())
      text(name, x);
  }

  void flag_if_any(std::string_view name, const std::optional<bool>& x) {
    if (x)
      flag(name, *x);
  }

  /// A list whose elements `append(x, out)` appends.
  template <class List, class Append>
  void list(std::string_view name, const List& all, Append append) {
    auto separator = '[';
    member(name);
    for (const auto& x : all) {
      out_ += std::exchange(separator, ',');
      append(x, out_);
    }
    out_ += separator == '[' ? "[]" : "]";
  }

  void texts(std::string_view name, std::span<const std::string> all) {
    list(name, all, atproto::append_json_string);
  }

private:
  std::string& out_;
};

} // namespace weir::wire

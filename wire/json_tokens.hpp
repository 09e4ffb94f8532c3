#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::wire {

/// What all handlers of `boost::json::basic_parser` have in common here: one that
/// derives from it says what it does with names and values, and need not speak of
/// the rest. The size of a whole text is what bounds each of its parts. The
/// parser's types are left to it, so that its header stays in few files.
struct json_tokens {
  static constexpr size_t max_object_size = SIZE_MAX;
  static constexpr size_t max_array_size = SIZE_MAX;
  static constexpr size_t max_key_size = SIZE_MAX;
  static constexpr size_t max_string_size = SIZE_MAX;

  bool on_document_begin(auto&) { return true; }
  bool on_document_end(auto&) { return true; }
  bool on_number_part(std::string_view, auto&) { return true; }
  bool on_comment_part(std::string_view, auto&) { return true; }
  bool on_comment(std::string_view, auto&) { return true; }
};

} // namespace weir::wire

#pragma once

#include <cstddef>
#include <string_view>

namespace weir::wire {

/// Base of the handlers for `boost::json::basic_parser`. A derived handler
/// implements only the tokens it needs. The size of the whole text limits each
/// of its parts. This header does not include the parser's, so that few files
/// depend on it.
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
  bool on_object_end(size_t, auto&) { return close(); }
  bool on_array_end(size_t, auto&) { return close(); }

protected:
  bool open() {
    ++depth_;
    return true;
  }

  size_t depth_ = 0; ///< Objects and lists around the current token.

private:
  bool close() {
    --depth_;
    return true;
  }
};

} // namespace weir::wire

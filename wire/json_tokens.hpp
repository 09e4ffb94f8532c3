#pragma once

#include "base/error.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace weir::wire {

/// Hears the tokens of a text in order, so that a listener can notice a member
/// that is there twice, of which a parsed object would keep only one (ADR 17).
class json_listener {
public:
  virtual ~json_listener() = default;

  /// A member of the outermost object begins.
  virtual void begin_member(const std::string& name) = 0;

  /// @param x May be moved away.
  virtual void take_text(std::string& x) = 0;

  virtual void begin_list() { take_other(); }
  virtual void take_int(int64_t) { take_other(); }
  virtual void take_real(double) { take_other(); }
  virtual void take_bool(bool) { take_other(); }

  /// Null, a number beyond int64, or an object inside of the outermost one; and
  /// whatever a listener does not override.
  virtual void take_other() {}

  size_t depth = 0; ///< Objects and lists around the current token.
};

/// Parses a text that must be one object, in pieces.
class json_parser {
public:
  /// @param to Outlives the object.
  /// @param text_bytes_max What is kept of each name and text.
  explicit json_parser(json_listener& to, size_t text_bytes_max = SIZE_MAX);
  ~json_parser();

  /// @param more Whether other pieces follow.
  void put(bool more, std::string_view piece);

  /// What is wrong with the text after its last piece.
  result<void> check() const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::wire

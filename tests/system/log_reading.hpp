#pragma once

#include "tests/system/hostile_node.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

// What the routes for operations and records answer.

namespace weir::tests {

/// An answer of the data port.
struct told_json {
  int status = 0;
  boost::json::object body;

  std::string text(std::string_view name) const;

  const boost::json::array& list(std::string_view name) const {
    return body.at(name).as_array();
  }
};

told_json ask_data(const hostile_node& node, const std::string& path);

/// A member that is a text; empty when there is none.
std::string text_in(const boost::json::value& x, std::string_view name);

uint64_t number_in(const boost::json::value& x, std::string_view name);

/// The whole log in pages.
/// @param query Further parameters, each with `&` before it.
/// @param cursor Gets the place after it.
std::vector<boost::json::object> read_log(const hostile_node& node,
                                          size_t limit,
                                          const std::string& query = {},
                                          std::string* cursor = nullptr);

} // namespace weir::tests

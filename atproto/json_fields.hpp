#pragma once

#include "base/error.hpp"

#include <string_view>

namespace boost::json {
class array;
class object;
class storage_ptr;
} // namespace boost::json

/// Reads members of JSON that others wrote. A member of another type counts as
/// absent. Views and pointers that the readers return refer to the object.
namespace weir::atproto {

/// The text of a member; empty when it is absent.
std::string_view text_at(const boost::json::object& x, std::string_view name);

bool truth_at(const boost::json::object& x, std::string_view name,
              bool when_absent = false);

/// Null when it is absent.
const boost::json::object* object_at(const boost::json::object& x,
                                     std::string_view name);

const boost::json::array* array_at(const boost::json::object& x,
                                   std::string_view name);

/// Parses a text that must be one object, for callers that have no limit of
/// their own: its depth is at most Boost.JSON's default of 32. The caller
/// limits its size. Errors: `malformed` when it is no JSON, too deep, or
/// something else than one object.
result<boost::json::object> parse_object(std::string_view text);

/// The same with a depth of at most `depth_max`.
/// @param memory Holds the result and outlives it; when empty, the default one.
result<boost::json::object> parse_object(std::string_view text,
                                         size_t depth_max,
                                         boost::json::storage_ptr memory);

} // namespace weir::atproto

#pragma once

#include "atproto/cid.hpp"
#include "base/clock.hpp"
#include "tests/support/vectors.hpp"

#include <boost/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>

// Helpers for the readers of JSON vectors. An unexpected vector throws, which
// fails the test.

namespace weir::tests {

/// Later than every revision in the vectors.
constexpr wall_time after_all_vectors{1'800'000'000'000'000};

inline boost::json::value read_json(const std::filesystem::path& path) {
  return boost::json::parse(read_file(path));
}

inline std::string_view text(const boost::json::value& x) {
  return {x.as_string().data(), x.as_string().size()};
}

inline std::string text_of(const boost::json::value& x, const char* name) {
  return std::string{text(x.at(name))};
}

inline atproto::cid to_cid(const boost::json::value& x) {
  return atproto::cid::from_text(text(x)).value();
}

} // namespace weir::tests

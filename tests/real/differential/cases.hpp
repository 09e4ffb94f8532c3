#pragma once

#include "base/bytes.hpp"
#include "base/random.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <vector>

/// Cases that are also given to published libraries (tests/real/cases/
/// differential.mjs): valid or invalid bytes, and our result for them.
namespace weir::differential {

struct test_case {
  std::string kind; ///< The kind of judge: `record`, `repo` or `commit`.
  std::string what; ///< How the case was made.
  /// The difference that this case shows, in the words of docs/differential.md;
  /// empty for a random case.
  std::string pins;
  /// The data that a judge needs: `did`, `key`, `now`.
  boost::json::object given;
  boost::json::object ours; ///< `ok`, then `reason` or the result.
  bytes payload;
};

/// A block that should be a record.
test_case random_record(random_source& random);
std::vector<test_case> pinned_records();

/// A repository export.
test_case random_repo(random_source& random);
std::vector<test_case> pinned_repos();

/// A #commit frame.
test_case random_commit(random_source& random);
std::vector<test_case> pinned_commits();

} // namespace weir::differential

#pragma once

#include "base/bytes.hpp"
#include "base/random.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <vector>

/// Cases that published libraries judge too (tests/real/cases/
/// differential.mjs): bytes, sound or broken, and what we say about them.
namespace weir::differential {

struct test_case {
  std::string kind; ///< Which judge: `record`, `repo` or `commit`.
  std::string what; ///< How it was made.
  /// The difference this case is there for, in the words of docs/differential.md;
  /// empty for a random case.
  std::string pins;
  boost::json::object given; ///< What a judge must know: `did`, `key`, `now`.
  boost::json::object ours;  ///< `ok`, then `reason` or what was found.
  bytes payload;
};

/// A block that wants to be a record.
test_case random_record(random_source& random);
std::vector<test_case> pinned_records();

/// A repository export.
test_case random_repo(random_source& random);
std::vector<test_case> pinned_repos();

/// A #commit frame.
test_case random_commit(random_source& random);
std::vector<test_case> pinned_commits();

} // namespace weir::differential

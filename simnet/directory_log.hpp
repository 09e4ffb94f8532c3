#pragma once

#include "base/clock.hpp"
#include "simnet/site.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace weir::simnet {

/// The directory's log of operations as its export shows it, numbered from 1,
/// oldest first. It is brought up to date when somebody reads it: all that has
/// changed about an account since the last time becomes one operation.
///
/// # Ownership and threads
/// Borrows the site, which outlives it. Any thread.
class directory_log {
public:
  /// @param epoch When the first account entered the directory. Each further
  /// account entered a millisecond later, and changes come after that.
  directory_log(const site& where, wall_time epoch)
    : site_(where), epoch_(epoch) {}

  /// Adds what has changed since the last call.
  void catch_up();

  /// At most `count` operations with numbers above `after`, as JSON lines in
  /// the form of a directory that numbers operations.
  std::string lines_after(uint64_t after, size_t count);

  /// The same after a time, in the older form without numbers.
  std::string lines_after(const std::string& time, size_t count);

private:
  struct entry {
    std::string did;
    std::string id; ///< CID of the operation's text.
    boost::json::object operation;
  };

  std::string created_at(size_t index) const;
  boost::json::object line(size_t index) const;

  const site& site_;
  const wall_time epoch_;
  std::mutex guard_;
  std::vector<entry> entries_;
  /// For each account the index of its last entry.
  std::map<size_t, size_t> last_;
};

} // namespace weir::simnet

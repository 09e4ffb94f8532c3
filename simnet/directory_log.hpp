#pragma once

#include "base/clock.hpp"
#include "simnet/site.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace weir::simnet {

/// The directory's log of operations, as its export tells it: numbered from 1,
/// the oldest first. It is written when somebody is about to read it: what has
/// changed about an account since then is one operation.
///
/// # Ownership and threads
/// Borrows the site, which outlives it. Any thread.
class directory_log {
public:
  /// @param epoch When the first account entered the directory; the others
  /// followed a millisecond apart, and what happened to them later.
  directory_log(const site& where, wall_time epoch)
    : site_(where), epoch_(epoch) {
    // nop
  }

  /// Writes what has happened since the last time.
  void catch_up();

  /// JSON lines of at most `count` operations with numbers above `after`, in
  /// the form of a directory that numbers them.
  std::string lines_after(uint64_t after, size_t count);

  /// The same after a time, in the form of before, without numbers.
  std::string lines_after(const std::string& time, size_t count);

private:
  struct entry {
    std::string did;
    std::string id; ///< CID, of the operation's text.
    boost::json::object operation;
  };

  std::string created_at(size_t index) const;
  boost::json::object line(size_t index) const;

  const site& site_;
  const wall_time epoch_;
  std::mutex guard_;
  std::vector<entry> entries_;
  std::map<size_t, size_t> last_; ///< Account to the place of its last entry.
};

} // namespace weir::simnet

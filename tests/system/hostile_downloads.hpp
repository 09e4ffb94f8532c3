#pragma once

#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <functional>
#include <list>
#include <string>
#include <vector>

namespace weir::tests {

/// A whole answer to getRepo around a CAR.
std::string car_answer(bytes_view car);

/// A CAR with the first block as its root.
bytes whole_car(const std::vector<named_block>& blocks);

/// A CAR whose commit, signed by the key of `repo`, is `object`.
bytes signed_car(const test_repo& repo, const atproto::commit_object& object,
                 const std::vector<named_block>& blocks);

/// Replaces the s of a k256 signature in a commit block by its twin.
void raise_s(bytes& block);

/// Repos of many hosts that one node is told to fetch, with an honest one among
/// them. What each host sends is the test's.
class hostile_downloads {
public:
  hostile_downloads();

  /// A new repo of two records.
  live_repo make_repo();

  /// Its download is this, from a host of its own.
  /// @param error A part of what the node must say. Empty: it is synced.
  void add(const std::string& what, const test_repo& repo,
           hostile_host::script answer, const std::string& error);

  /// Same, from a server of the caller's.
  void add_at(const std::string& what, const test_repo& repo,
              const std::string& pds, const std::string& error);

  /// Same, for hosts that send a whole body and so may be one.
  void add_body(const std::string& what, const test_repo& repo, bytes_view body,
                const std::string& error);

  /// Lets a node fetch all of them. The honest one must be synced whatever the
  /// others do, each of these end as it was said, and the node not have grown
  /// by more than this at any time.
  void run(size_t bytes_max, std::vector<std::string> more_arguments = {});

private:
  struct trial {
    std::string what;
    atproto::did did;
    std::string error;
  };

  hostile_stream stream_;
  hostile_host hub_; ///< Relay, directory, host of bodies and the honest one.
  std::list<hostile_host> hosts_;
  std::vector<trial> trials_;
  uint64_t seed_ = 0;
  live_repo honest_ = make_repo();
};

} // namespace weir::tests

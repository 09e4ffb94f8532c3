#pragma once

#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <functional>
#include <list>
#include <string>
#include <vector>

namespace weir::tests {

/// A complete answer to getRepo that contains this CAR.
std::string car_answer(bytes_view car);

/// A CAR whose root is its first block.
bytes whole_car(const std::vector<named_block>& blocks);

/// A CAR whose commit block is `object`, signed by the key of `repo`.
bytes signed_car(const test_repo& repo, const atproto::commit_object& object,
                 const std::vector<named_block>& blocks);

/// Replaces s of a k256 signature in a commit block by order - s, its high
/// form.
void raise_s(bytes& block);

/// Repos of many hosts, one of them honest, that one node must fetch. The test
/// decides what each host sends.
class hostile_downloads {
public:
  hostile_downloads();

  /// A new repo with two records.
  live_repo make_repo();

  /// Adds a repo whose download is this answer, from a host of its own.
  /// @param error A part of the error that the node must report. Empty: it must
  /// be synced.
  void add(const std::string& what, const test_repo& repo,
           hostile_host::script answer, const std::string& error);

  /// The same, from a server of the caller.
  void add_at(const std::string& what, const test_repo& repo,
              const std::string& pds, const std::string& error);

  /// The same for a complete body. All these repos share one host.
  void add_body(const std::string& what, const test_repo& repo, bytes_view body,
                const std::string& error);

  /// Lets a node fetch all of them. The honest one must be synced whatever the
  /// others do, each of the others must end with its expected error, and the
  /// node must at no time have grown by more than `bytes_max`.
  void run(size_t bytes_max, std::vector<std::string> more_arguments = {});

private:
  struct trial {
    std::string what;
    atproto::did did;
    std::string error;
  };

  hostile_stream stream_;
  /// Relay, directory, and host of the bodies and of the honest repo.
  hostile_host hub_;
  std::list<hostile_host> hosts_;
  std::vector<trial> trials_;
  uint64_t seed_ = 0;
  live_repo honest_ = make_repo();
};

} // namespace weir::tests

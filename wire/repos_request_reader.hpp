#pragma once

#include "wire/body_members.hpp"
#include "wire/repos_api.hpp"

#include <memory>
#include <string_view>

namespace weir::wire {

/// Reads the body of `/repos/add`, `/repos/remove` and `/repos/resync` while it
/// arrives. It keeps the DIDs and patterns that it names and nothing else, so
/// that a body costs memory for what is used of it and not for its size.
///
/// # Threads
/// One at a time.
///
/// # Errors
/// They are told at the end, whatever is wrong: a client that still sends would
/// not see an earlier answer. `ec::malformed` when the text is no JSON object
/// or nests deeper than `limits::json_depth_max`, `ec::limit_reached` above
/// `limits::request_dids_max` DIDs; one bad DID or pattern refuses the request
/// and is named, and so does a member that nobody reads.
class repos_request_reader {
public:
  /// @param members All that the body may have, `dids` and perhaps `collections`;
  /// any other is refused. They outlive the reader.
  explicit repos_request_reader(std::span<const body_member> members
                                = add_members);
  ~repos_request_reader();

  repos_request_reader(const repos_request_reader&) = delete;
  repos_request_reader& operator=(const repos_request_reader&) = delete;

  void put(std::string_view piece);

  /// What it keeps now, about.
  size_t held_bytes() const noexcept;

  /// There is no more to come. Once.
  result<repos_request> finish();

private:
  class parser;

  std::unique_ptr<parser> parser_;
};

} // namespace weir::wire

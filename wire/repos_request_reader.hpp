#pragma once

#include "wire/body_members.hpp"
#include "wire/repos_api.hpp"

#include <memory>
#include <string_view>

namespace weir::wire {

/// Reads the body of `/repos/add`, `/repos/remove` and `/repos/resync` while it
/// arrives. It keeps only the DIDs and patterns of the body, so memory depends
/// on what is used and not on the size of the body.
///
/// # Threads
/// One thread at a time.
///
/// # Errors
/// All errors are reported by `finish`, since a client that is still sending
/// would not see an earlier answer. `ec::malformed` when the text is no JSON
/// object or is nested deeper than `limits::json_depth_max`;
/// `ec::limit_reached` above `limits::request_dids_max` DIDs. A bad DID or
/// pattern, or an unknown member, refuses the whole request, and the error
/// names it.
class repos_request_reader {
public:
  /// @param members All members that the body may have: `dids` and perhaps
  /// `collections`. Any other is refused. The table outlives the reader.
  explicit repos_request_reader(std::span<const body_member> members
                                = add_members);
  ~repos_request_reader();

  repos_request_reader(const repos_request_reader&) = delete;
  repos_request_reader& operator=(const repos_request_reader&) = delete;

  void put(std::string_view piece);

  /// Approximate memory that it uses, in bytes.
  size_t held_bytes() const noexcept;

  /// Call this once, at the end of the body.
  result<repos_request> finish();

private:
  struct parser;

  std::unique_ptr<parser> parser_;
};

} // namespace weir::wire

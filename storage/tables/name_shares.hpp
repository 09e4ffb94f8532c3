#pragma once

#include "storage/format/records.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

namespace weir::storage {

/// A repo and its host, who want a name.
struct name_user {
  std::string_view repo; ///< DID.
  std::string_view host; ///< Origin of its PDS; empty: not known.
};

/// How much memory the names of collections hold, and who invented them.
///
/// A name counts for the repo that began it and for the host of that repo, for
/// as long as anybody uses it: who uses a name of somebody else's takes nothing
/// off his share, so that hosts which work together have no more than each has
/// alone.
///
/// Half of the room is for whoever comes, a part of what is still free for each
/// host and repo (`limits::names_host_share`). The other half is for the first
/// names of each host (`limits::names_host_floor`), which it may have however
/// many names others took.
///
/// # Ownership and threads
/// Plain value, no locks.
class name_shares {
public:
  explicit name_shares(size_t bytes_max) : bytes_max_(bytes_max) {
    // nop
  }

  void add(const collection_row& x);

  /// @pre it was added as it is
  void remove(const collection_row& x);

  size_t bytes() const noexcept { return bytes_; }

  /// Bytes that `x` counts with.
  static size_t cost_of(const collection_row& x) noexcept;

  /// Why new names of so many bytes are too much for `who`, for people; empty
  /// when they are not.
  std::string refusal(const name_user& who, size_t bytes) const;

private:
  using shares = std::unordered_map<std::string, size_t>;

  static void give_back(shares& from, const std::string& whose, size_t bytes);
  static size_t held(const shares& x, std::string_view whose);

  size_t bytes_max_;
  size_t bytes_ = 0;
  shares hosts_;
  shares repos_;
};

} // namespace weir::storage

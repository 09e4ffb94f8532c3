#pragma once

#include "storage/format/records.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

namespace weir::storage {

/// A repo that adds a name, and its host.
struct name_user {
  std::string_view repo; ///< DID.
  std::string_view host; ///< Origin of its PDS; empty when unknown.
};

/// Counts how much memory the names of collections need, and who added them.
///
/// A name counts for the repo that added it and for the host of that repo, as
/// long as any repo uses the name. Using a name that another repo added costs
/// nothing. So hosts that cooperate get no more than each of them would get
/// alone.
///
/// Half of the memory is for everybody: each host and each repo may take a
/// fraction of what is still free (`limits::names_host_share`). The other half
/// is reserved for the first names of each host (`limits::names_host_floor`),
/// which it may add however many names others have taken.
///
/// # Ownership and threads
/// A plain value without locks.
class name_shares {
public:
  explicit name_shares(size_t bytes_max) : bytes_max_(bytes_max) {}

  void add(const collection_row& x);

  /// @pre `x` was added with the same content
  void remove(const collection_row& x);

  size_t bytes() const noexcept { return bytes_; }

  /// The number of bytes that `x` counts.
  static size_t cost_of(const collection_row& x) noexcept;

  /// Says in words why `who` may not add names of `bytes` bytes in total; empty
  /// when it may.
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

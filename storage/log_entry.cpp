#include "storage/log_entry.hpp"

namespace weir::storage {

size_t log_entry::bytes_held() const noexcept {
  size_t out = sizeof(*this) + repo.str().size();
  for (const auto& op : ops)
    out += sizeof(op) + op.scope.size() + op.rkey.size() + op.body.size();
  return out;
}

} // namespace weir::storage

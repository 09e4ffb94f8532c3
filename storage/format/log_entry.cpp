#include "storage/format/log_entry.hpp"

namespace weir::storage {

size_t log_entry::bytes_held() const noexcept {
  size_t out = sizeof(*this) + repo.str().size();
  for (const auto& op : ops)
    out += sizeof(op) + op.scope.size() + op.rkey.size() + op.body.size();
  return out;
}

std::string subject_of(const atproto::did& repo, const logged_operation& op) {
  if (op.scope.starts_with('$'))
    return repo.str();
  return "at://" + repo.str() + '/' + op.scope + '/' + op.rkey;
}

} // namespace weir::storage

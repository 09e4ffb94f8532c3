#include "storage/format/values.hpp"

#include <iterator>

/// Scopes of streams: a collection has its own id, the reserved scopes have
/// fixed ids.
namespace weir::storage {

namespace {

constexpr std::string_view reserved_scopes[]
  = {commit_scope, identity_scope, account_scope, "$local"};

} // namespace

std::optional<uint32_t> scope_id(const collection_names& names,
                                 std::string_view scope) {
  if (!scope.starts_with('$'))
    return names.id_of(scope);
  uint32_t id = commit_scope_id;
  for (const auto known : reserved_scopes) {
    if (scope == known)
      return id;
    ++id;
  }
  return std::nullopt;
}

std::optional<std::string> scope_name(const collection_names& names,
                                      uint32_t id) {
  if (id >= first_collection_id)
    return names.name_of(id);
  if (id < commit_scope_id || id > std::size(reserved_scopes))
    return std::nullopt;
  return std::string{reserved_scopes[id - commit_scope_id]};
}

} // namespace weir::storage

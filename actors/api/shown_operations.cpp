#include "actors/api/shown_operations.hpp"

#include "actors/api/operation_views.hpp"

namespace weir::actors {

result<void> shown_operations::add(uint64_t id,
                                    storage::stored_operation x) {
  const auto away = is_fact(x) || x.content != storage::content_state::present
                      ? result<bool>{false}
                      : is_away(x.in->repo);
  if (!away)
    return away.error();
  if (*away)
    x.body = {};
  all_.push_back({id, std::move(x), *away});
  return {};
}

/// A repo without a row was removed a moment ago.
result<bool> shown_operations::is_away(const atproto::did& repo) {
  const auto known = away_.find(repo);
  if (known != away_.end())
    return known->second;
  const auto row = stores_.of(repo).load_row(repo);
  if (!row)
    return row.error();
  const bool out
    = !*row || (*row)->account != storage::account_status::active;
  return away_.emplace(repo, out).first->second;
}

std::vector<wire::operation_view> shown_operations::views() const {
  std::vector<wire::operation_view> out;
  out.reserve(all_.size());
  for (const auto& x : all_) {
    out.push_back(view_of(x.id, x.operation));
    if (x.hidden)
      out.back().content = hidden_content;
  }
  return out;
}

} // namespace weir::actors

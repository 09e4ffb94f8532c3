#include "actors/repo/completeness_machine.hpp"

#include <algorithm>

namespace weir::actors::completeness {

bool is_noted(const storage::repo_row& row, const position& since_reset) {
  return !since_reset.defined()
         || (row.fcsr.covers(since_reset) && row.first_rev.defined());
}

bool on_event(storage::repo_row& row, const position& since_reset,
              atproto::tid rev, bool always) {
  if (!since_reset.defined() || (!always && is_noted(row, since_reset)))
    return false; // CONS-19: the write that is saved.
  row.first_rev = rev;
  if (!row.fcsr.covers(since_reset))
    row.fcsr = since_reset;
  return true;
}

bool on_listed(storage::repo_row& row, const position& noted,
               atproto::tid listed, atproto::tid stored) {
  if (!noted.defined())
    return false;
  if (!row.first_rev.defined()) {
    row.first_rev = listed;
    row.fcsr = noted;
    return true;
  }
  if (listed == stored && !row.fcsr.covers(noted)) {
    row.first_rev = listed;
    row.fcsr = noted;
    return true;
  }
  return false;
}

bool on_carried(storage::repo_row& row, uint32_t by) noexcept {
  if (by == 0 || row.left_out_by != by)
    return false;
  row.left_out_by = 0;
  return true;
}

bool needs_index(const storage::repo_row& row, atproto::tid applied) {
  return counts(row) && row.status == storage::repo_status::synced
         && (!row.last_indexed_rev.defined()
             || std::max(row.last_indexed_rev, applied) < row.first_rev);
}

void on_indexed(storage::repo_row& row, const position& noted,
                atproto::tid rev, uint32_t filter_generation) {
  row.last_indexed_rev = rev;
  row.filter_generation = filter_generation;
  row.gap = false;
  if (!noted.defined())
    return;
  const auto raised = !row.fcsr.covers(noted);
  if (raised)
    row.fcsr = noted;
  // A listing may have named a rev that its host does not have.
  if (raised || !row.first_rev.defined()
      || (noted.covers(row.fcsr) && row.first_rev > rev))
    row.first_rev = rev;
}

} // namespace weir::actors::completeness

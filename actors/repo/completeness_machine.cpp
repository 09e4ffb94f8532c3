#include "actors/repo/completeness_machine.hpp"

#include <algorithm>

namespace weir::actors::completeness {

bool terms::complete() const noexcept {
  return covered && upstream_live && position_current && first_rev_set
         && indexed_past_first_rev && filter_current && no_gap && synced;
}

std::vector<std::string> terms::why_not() const {
  std::vector<std::string> out;
  const auto note = [&](bool holds, const char* name) {
    if (!holds)
      out.emplace_back(name);
  };
  note(covered, "covered");
  note(upstream_live, "upstream_live");
  note(position_current, "position_current");
  note(first_rev_set, "first_rev_set");
  note(indexed_past_first_rev, "indexed_past_first_rev");
  note(filter_current, "filter_current");
  note(no_gap, "no_gap");
  note(synced, "synced");
  return out;
}

terms explain(const storage::repo_row& row, const storage::chain_row* chain,
              const upstream_view& upstream, uint32_t filter_generation) {
  terms out;
  out.covered = upstream.id != 0;
  out.upstream_live = upstream.live;
  const auto needed = upstream.since_reset();
  out.position_current = needed.defined() && row.fcsr.reaches(needed);
  out.first_rev_set = row.first_rev.defined();
  // The rev last applied from the stream is the chain's.
  const auto last = std::max(row.last_indexed_rev,
                             chain != nullptr ? chain->rev : atproto::tid{});
  out.indexed_past_first_rev = row.last_indexed_rev.defined()
                               && row.first_rev.defined()
                               && last >= row.first_rev;
  out.filter_current = row.filter_generation == filter_generation;
  out.no_gap = !row.gap;
  out.synced = row.status == storage::repo_status::synced;
  return out;
}

bool is_noted(const storage::repo_row& row, const position& since_reset) {
  return !since_reset.defined()
         || (row.fcsr.reaches(since_reset) && row.first_rev.defined());
}

bool on_event(storage::repo_row& row, const position& since_reset,
              atproto::tid rev, bool always) {
  if (!since_reset.defined() || (!always && is_noted(row, since_reset)))
    return false; // CONS-19: the write that is saved.
  row.first_rev = rev;
  if (!row.fcsr.reaches(since_reset))
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
  if (listed == stored && !row.fcsr.reaches(noted)) {
    row.first_rev = listed;
    row.fcsr = noted;
    return true;
  }
  return false;
}

void on_indexed(storage::repo_row& row, const position& noted,
                atproto::tid rev, uint32_t filter_generation) {
  row.last_indexed_rev = rev;
  row.filter_generation = filter_generation;
  row.gap = false;
  if (noted.defined() && !row.fcsr.reaches(noted)) {
    row.fcsr = noted;
    row.first_rev = rev;
  } else if (noted.defined() && !row.first_rev.defined()) {
    row.first_rev = rev;
  }
}

} // namespace weir::actors::completeness

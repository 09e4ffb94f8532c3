#include "actors/support/completeness.hpp"

#include "atproto/limits.hpp"
#include "base/stored_time.hpp"

#include <algorithm>

namespace weir::actors::completeness {

bool terms::complete() const noexcept {
  return std::ranges::all_of(
    all_terms, [this](const auto& x) { return this->*x.holds; });
}

atproto::tid last_rev(const storage::repo_row& row,
                      const storage::chain_row* chain) {
  return std::max(row.last_indexed_rev,
                  chain != nullptr ? chain->rev : atproto::tid{});
}

bool lacks_named_rev(const storage::repo_row& row, wall_time now) noexcept {
  const std::chrono::seconds old{row.last_sync
                                 - row.first_rev.time().seconds()};
  const auto pause = std::clamp<std::chrono::seconds>(
    old, limits::lacked_rev_pause, limits::lacked_rev_pause_max);
  return row.last_indexed_rev.defined()
         && (row.first_rev.time() > now + limits::rev_future_max
             || (old.count() > 0 && age_of(row.last_sync, now) < pause.count()));
}

terms explain(const storage::repo_row& row, const storage::chain_row* chain,
              const upstream_view& upstream, uint32_t filter_generation) {
  terms out;
  out.covered = upstream.id != 0 && upstream.id != row.left_out_by;
  out.upstream_live = upstream.live;
  const auto needed = upstream.since_reset();
  out.position_current = needed.defined() && row.fcsr.covers(needed);
  out.first_rev_set = row.first_rev.defined();
  // The rev that was last applied from the stream is that of the chain.
  out.indexed_past_first_rev = row.last_indexed_rev.defined()
                               && row.first_rev.defined()
                               && last_rev(row, chain) >= row.first_rev;
  out.filter_current = row.filter_generation == filter_generation;
  out.no_gap = !row.gap;
  out.synced = row.status == storage::repo_status::synced;
  return out;
}

upstream_view accounting(const upstream_board& board, const std::string& pds,
                         steady_time now, wall_time wall) {
  auto out = board.accounting_for(pds);
  out.live = out.proves(now, wall);
  return out;
}

namespace {

std::string text(const position& x) {
  return "epoch " + std::to_string(x.epoch) + ", seq " + std::to_string(x.seq);
}

std::string text(const atproto::tid& x) {
  return x.defined() ? x.str() : std::string{"none"};
}

std::string why_not_live(const upstream_view& x) {
  if (x.id == 0)
    return "no upstream covers it";
  const auto who = "the stream of " + x.origin;
  if (!x.connected)
    return who + " is not open"
           + (x.last_error.empty() ? "" : ": " + x.last_error);
  if (x.stalls)
    return who + " is not read: " + x.last_error;
  if (!x.read)
    return who + " is not read while there is a shortage here";
  if (x.unwritten)
    return "a write to the disk hangs, so what " + who
           + " sends is not stored";
  if (!x.since_reset().defined())
    return who + " was reset and waits for its first position";
  return who
         + " has not sent yet all that happened before it was opened, or lags "
           "behind; it is at "
         + std::to_string(x.received);
}

std::string why_not_current(const storage::repo_row& row,
                            const upstream_view& x) {
  if (x.id == 0)
    return "there is no upstream by whose position it could be proved";
  const auto needed = x.since_reset();
  if (!needed.defined())
    return x.origin + " has no position yet";
  auto out = x.origin + " has no gap since " + text(needed) + ", ";
  if (!row.fcsr.defined())
    return out + "and the copy was never compared with it";
  if (row.fcsr.upstream != x.id)
    return out + "and the copy was proved with upstream "
           + std::to_string(row.fcsr.upstream);
  return out + "and the copy was proved with " + text(row.fcsr);
}

std::string why_not_synced(const storage::repo_row& row) {
  std::string out = "its status is ";
  out += storage::to_string(row.status);
  if (!row.error.empty())
    out += ": " + row.error;
  return out;
}

} // namespace

std::string reason(size_t term, const storage::repo_row& row,
                   const storage::chain_row* chain,
                   const upstream_view& upstream, uint32_t filter_generation) {
  const auto holds = all_terms.at(term).holds;
  if (holds == &terms::covered && upstream.id != 0)
    return upstream.origin + " does not list it, and its host " + row.pds
           + " has it, which is asked for its rev about once an hour";
  if (holds == &terms::covered)
    return "no upstream covers its host " + row.pds
           + ", which is asked for its rev about once an hour";
  if (holds == &terms::upstream_live)
    return why_not_live(upstream);
  if (holds == &terms::position_current)
    return why_not_current(row, upstream);
  if (holds == &terms::first_rev_set)
    return "no event and no listing has named a rev of it that counts: the "
           "revs of commits that came before its first fetch do not count";
  if (row.filter_generation == 0 && holds == &terms::filter_current)
    return "it was never fetched";
  if (row.filter_generation == 0 && holds == &terms::indexed_past_first_rev)
    return "there is no copy of it";
  if (holds == &terms::indexed_past_first_rev)
    return "the copy is whole through rev " + text(last_rev(row, chain))
           + " (last fetch " + text(row.last_indexed_rev)
           + "), and its upstream named it from rev " + text(row.first_rev)
           + " on";
  if (holds == &terms::filter_current)
    return "it was fetched under filter " + std::to_string(row.filter_generation)
           + ", and filter " + std::to_string(filter_generation)
           + " is in force";
  if (holds == &terms::no_gap)
    return "an event of it was dropped, or waits until it can be verified";
  return why_not_synced(row);
}

} // namespace weir::actors::completeness

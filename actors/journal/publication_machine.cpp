#include "actors/journal/publication_machine.hpp"

namespace weir::actors {

void publication_machine::on_update(const storage::repo_update& x,
                                    const storage::update_receipt& receipt,
                                    const std::vector<position>& marks,
                                    steady_time now, effects& out) {
  if (x.erase)
    ++out.erasings;
  if (receipt.outcome != storage::update_outcome::done) {
    ++out.refused;
    return;
  }
  ++out.written;
  if (receipt.first != 0)
    out.operations += receipt.last - receipt.first + 1;
  out.done.insert(out.done.end(), marks.begin(), marks.end());
  if (x.row || x.forget || receipt.erased_through != 0)
    count(x, receipt, now);
  const auto before = x.base ? x.base->record_count : 0;
  const auto after = receipt.chain ? receipt.chain->record_count : 0;
  counts_.records += after - before;
}

void publication_machine::count(const storage::repo_update& x,
                                const storage::update_receipt& receipt,
                                steady_time now) {
  auto standing = accounts_.of(x.repo);
  const auto waiting = counts_.waiting();
  if (x.old_status && (x.row || x.forget))
    counts_.take_away(*x.old_status, standing.account);
  if (x.row || x.forget) {
    const auto after = x.row ? std::optional{x.row->status} : std::nullopt;
    changes_.note(x.old_status, after);
    counts_.note_change(x.old_status, after);
  }
  if (x.row) {
    standing.account = x.row->account;
    standing.active = x.row->account == storage::account_status::active;
    counts_.add(x.row->status, x.row->account);
  }
  counts_.note_waiting(waiting, now);
  if (receipt.erased_through != 0)
    standing.erased_through = receipt.erased_through;
  accounts_.put(x.repo, standing);
}

void publication_machine::on_log(storage::op_id last,
                                 uint64_t events) noexcept {
  counts_.durable = last;
  counts_.events = events;
}

void publication_machine::on_consumers(
  const std::vector<storage::consumer_change>& changes) {
  for (const auto& x : changes)
    if (x.row)
      ended_.note(x.name, x.row->position(0));
}

void publication_machine::forget_erased(size_t consumers) {
  for (const auto& [through, repo] : ended_.take_passed(consumers)) {
    auto standing = accounts_.of(repo);
    if (standing.erased_through != through)
      continue; // The repo was erased again.
    standing.erased_through = 0;
    accounts_.put(repo, standing);
  }
}

} // namespace weir::actors

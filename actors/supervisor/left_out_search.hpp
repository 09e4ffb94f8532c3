#pragma once

#include "actors/supervisor/account_questions.hpp"
#include "actors/supervisor/left_out_machine.hpp"
#include "base/log.hpp"

namespace weir::actors {

/// Has READER look for the repos that a listing left out, one page of rows at a
/// time, for upstreams whose questions have room. `left_out_machine` decides.
/// Part of the SUPERVISOR.
class left_out_search {
public:
  left_out_search(supervisor_desk& desk, account_questions& questions,
                  completeness_budget& budget)
    : desk_(desk), questions_(questions),
      machine_(questions.machine(), budget, desk.env.census_entries,
               desk.env.questions.kept_max) {}

  /// Reads the next page, if its time has come.
  void go_on() {
    const auto next = machine_.next();
    if (!next)
      return;
    auto job = [to = desk_.sink(), shared = desk_.env.shared, scan = *next,
                now = desk_.wall()](store_readers&) {
      caf::anon_send(
        to, left_out_machine::pick(scan, shared->stores.page(scan.after),
                                   shared->upstreams, now));
    };
    desk_.self->send(desk_.shared().root().reader_of(next->upstream),
                     reader_job{std::move(job)});
  }

  void on_page(const left_out_page& x) {
    if (!x.repos) {
      log::warn("left_out_unread", {{"upstream", desk_.url_of(x.upstream)},
                                    {"reason", to_string(x.repos.error())}});
      machine_.on_page(x.next, true);
      return;
    }
    const auto relay = desk_.board().find(x.upstream).relay;
    for (const auto& repo : *x.repos) {
      const auto verdict
        = machine_.on_left_out(x.upstream, relay, repo, desk_.now());
      if (verdict.note)
        desk_.tell(repo.id, repo_incomplete{repo.id, false, x.upstream});
      if (verdict.ask && !questions_.ask(*verdict.ask))
        machine_.on_shortage(repo.id);
    }
    machine_.on_page(x.next, x.end);
  }

  left_out_machine& machine() noexcept { return machine_; }

private:
  supervisor_desk& desk_;
  account_questions& questions_;
  left_out_machine machine_;
};

} // namespace weir::actors

#pragma once

#include "actors/supervisor/account_questions.hpp"
#include "actors/supervisor/uncovered_laps.hpp"
#include "base/log.hpp"

namespace weir::actors {

/// Has READER look for repos that no upstream covers, and asks their hosts: one
/// page of rows at a time, while there is room for questions, and for the
/// fetches that may follow. `uncovered_laps` decides. Part of the SUPERVISOR.
class uncovered_search {
public:
  /// @param interval From one search to the next.
  uncovered_search(supervisor_desk& desk, account_questions& questions,
                   std::chrono::seconds interval)
    : desk_(desk), questions_(questions), laps_(interval) {
    laps_.start(desk.now(), desk.shared().random->next());
  }

  /// Reads the next page, if its time has come.
  /// @param all_covered There is nothing to search.
  void go_on(bool all_covered) {
    auto& shared = desk_.shared();
    if (shared.intake.backfills() && questions_.machine().has_half()) {
      if (const auto at
          = laps_.next(desk_.now(), shared.random->next(), all_covered))
        desk_.read([to = desk_.sink(), context = desk_.env.shared,
                    at = *at](store_readers&) {
          caf::anon_send(to, read_page(*context, at));
        });
    }
    if (laps_.found()) {
      desk_.metrics.uncovered.set(*laps_.found());
      shared.uncovered = static_cast<int64_t>(*laps_.found());
    }
    desk_.arm_later(laps_.due());
  }

  void on_page(const result<uncovered_page>& x) {
    if (!x) {
      log::warn("uncovered_unread", {{"reason", to_string(x.error())}});
      laps_.on_failure();
      return;
    }
    bool asked = false;
    for (const auto& each : x->repos) {
      if (!laps_.take(each.id, each.row))
        continue;
      question_machine::question question{each.id, each.row.pds};
      question.compared = true;
      if (!questions_.ask(question))
        laps_.on_shortage();
      asked = true;
    }
    laps_.on_page(x->last, x->end, asked, desk_.now());
  }

private:
  static result<uncovered_page> read_page(const context& shared,
                                          const uncovered_laps::page& at) {
    const auto rows = shared.stores.page(at.after);
    if (!rows)
      return rows.error();
    uncovered_page out;
    pick_uncovered(*rows, shared.upstreams, at, out);
    return out;
  }

  supervisor_desk& desk_;
  account_questions& questions_;
  uncovered_laps laps_;
};

} // namespace weir::actors

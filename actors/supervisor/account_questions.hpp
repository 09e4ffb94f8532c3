#pragma once

#include "actors/supervisor/listed_line.hpp"
#include "actors/supervisor/question_machine.hpp"
#include "actors/supervisor/supervisor_desk.hpp"
#include "actors/support/store_readers.hpp"

#include <algorithm>

namespace weir::actors {

/// The questions to hosts about the status of accounts (protocol-coverage.md
/// 4.5): asks them, and takes the answers to the REPOs. `question_machine`
/// decides. Part of the SUPERVISOR.
class account_questions {
public:
  explicit account_questions(supervisor_desk& desk)
    : desk_(desk), machine_(desk.env.questions) {}

  void on_timer() { perform(machine_.on_timer(desk_.now())); }

  void on_question(const account_question& x) {
    question_machine::question asked{x};
    asked.noted = desk_.board().accounting_for(x.pds).since_reset();
    ask(asked);
  }

  /// @returns whether there was room for the question.
  bool ask(const question_machine::question& x) {
    auto out = machine_.on_question(x, desk_.now());
    const auto has_room
      = std::ranges::find(out.refused, x.repo, &question_machine::question::repo)
        == out.refused.end();
    perform(std::move(out));
    return has_room;
  }

  void on_scan(const scan_page& x) {
    for (const auto& lost : machine_.lost_in(x, desk_.wall()))
      ask(lost);
  }

  void on_answer(const account_answer& x) {
    perform(machine_.on_answer(x, desk_.now()));
  }

  const question_machine& machine() const noexcept { return machine_; }

private:
  void perform(question_machine::effects x) {
    for (const auto& each : x.ask)
      desk_.env.ask(each.repo, each.pds, desk_.sink());
    for (const auto& each : x.compared)
      compare(each);
    for (auto& each : x.answers)
      desk_.tell(each.repo, std::move(each));
    for (const auto& repo : x.unproved)
      desk_.tell(repo, repo_incomplete{repo, true});
    desk_.metrics.questions_refused.add(x.refused.size());
    for (const auto& each : x.refused)
      if (!each.left_out && !each.compared)
        desk_.tell(each.repo,
                   account_unasked{each.repo, each.not_found, each.urgent});
    desk_.arm(x.timer);
    desk_.metrics.questions.set(machine_.open());
  }

  /// READER drops answers that agree with the store, so quiet REPOs sleep on.
  void compare(const account_said& x) {
    desk_.metrics.compared.add();
    auto job = [shared = desk_.env.shared, x](store_readers& store) {
      const auto load_identity = [&] { return store.load_identity(x.repo); };
      if (is_news(x, store.load_repo(x.repo), shared->time->wall_now(),
                  load_identity)
          && !shared->routers().empty())
        caf::anon_send(shared->router_of(x.repo), x);
    };
    desk_.self->send(desk_.shared().home_of(x.repo).reader_of(x.repo),
                     reader_job{std::move(job)});
  }

  supervisor_desk& desk_;
  question_machine machine_;
};

} // namespace weir::actors

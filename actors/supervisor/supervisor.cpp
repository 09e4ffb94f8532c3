#include "actors/supervisor/supervisor.hpp"

#include "actors/supervisor/fetch_permits.hpp"
#include "actors/supervisor/left_out_search.hpp"
#include "actors/supervisor/listing_reads.hpp"
#include "actors/supervisor/returned_accounts.hpp"
#include "actors/supervisor/uncovered_search.hpp"
#include "actors/support/observed.hpp"
#include "messages/intake.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <memory>

namespace weir::actors {
namespace {

/// The parts of the SUPERVISOR. Each knows only parts above it.
struct supervisor_parts {
  supervisor_desk desk;
  supervisor_options options;
  listing_options listing;

  fetch_permits permits{desk, options};
  account_questions questions{desk};
  byte_claim questions_held{desk.shared().memory, memory_use::questions};
  completeness_budget budget{desk.shared().random->next()};
  left_out_search left_out{desk, questions, budget};
  uncovered_search uncovered{desk, questions,
                             std::min<std::chrono::seconds>(
                               listing.interval, limits::uncovered_interval)};
  completeness_survey survey{desk, questions, budget, left_out.machine(),
                             options.completeness_interval};
  claim_checks claims{desk};
  returned_accounts returned{desk, claims};
  listing_reads listings{desk, claims, left_out, survey, listing};
};

/// The SUPERVISOR: hands each message to the part that it is for.
class supervisor final : public observed<supervisor_actor::base> {
public:
  supervisor(caf::actor_config& config, supervisor_environment env,
             const supervisor_options& options, const listing_options& listing)
    : observed(config, "supervisor", turn::full),
      parts_(new supervisor_parts{{this, std::move(env)}, options, listing}) {
    // Set before it runs: the REPOs that it asks answer to this handle.
    parts_->desk.shared().supervisor = this;
  }

  behavior_type make_behavior() override {
    on_intake();
    parts_->permits.start();
    return {
      [this](tick x) { on_tick(x); },
      [this](stop_actor) { quit(); },
      [this](get_status) { return state(); },
      [this](const repo_wish& x) { parts_->permits.on_wish(x); },
      [this](const fetch_begun& x, const backfill_actor& from) {
        parts_->permits.on_begun(x, from);
      },
      [this](const host_report& x) { parts_->permits.on_host(x); },
      [this](const fetch_progress& x) { parts_->permits.on_progress(x); },
      [this](const result<scan_page>& x) { on_scan(x); },
      [this](node_command x) { parts_->listings.on_wanted(x.list_upstream); },
      [this](clock_corrected) { parts_->listings.on_clock_set(); },
      [this](const listing_page& x) {
        if (x.collection == one_account)
          parts_->returned.on_answer(x);
        else
          parts_->listings.on_page(x);
      },
      [this](const listing_compared& x) { parts_->listings.on_compared(x); },
      [this](const identity_answer& x) {
        parts_->permits.on_identity(x);
        parts_->claims.on_identity(x);
      },
      [this](const stream_claim& x) { parts_->returned.on_claim(x); },
      [this](intake_changed) { on_intake(); },
      [this](const account_question& x) {
        parts_->questions.on_question(x);
        search();
      },
      [this](const account_answer& x) { on_answer(x); },
      [this](const left_out_page& x) {
        parts_->left_out.on_page(x);
        search();
      },
      [this](const result<uncovered_page>& x) {
        parts_->uncovered.on_page(x);
        search();
      },
      [this](const result<completeness_page>& x) {
        parts_->survey.on_page(x);
        search();
      },
    };
  }

  void on_exit() override {
    parts_.reset();
    observed::on_exit();
  }

private:
  actor_status state() const {
    const auto& fetches = parts_->permits.machine();
    return status({{"queued", fetches.queued()},
                   {"running", fetches.running()},
                   {"hosts", fetches.hosts()},
                   {"questions", parts_->questions.machine().open()}});
  }

  void on_tick(const tick& x) {
    if (!parts_->desk.timer.fired(x))
      return;
    parts_->permits.on_timer();
    parts_->listings.on_timer();
    parts_->claims.on_timer();
    parts_->returned.on_timer();
    parts_->questions.on_timer();
    search();
  }

  void on_intake() {
    parts_->permits.on_intake();
    parts_->listings.on_intake();
    search();
  }

  void on_scan(const result<scan_page>& x) {
    if (x)
      parts_->questions.on_scan(*x);
    parts_->permits.on_scan(x);
    search();
  }

  void on_answer(const account_answer& x) {
    if (x.what == account_answer::kind::stated)
      parts_->left_out.machine().on_answered(x.repo, x.pds);
    parts_->questions.on_answer(x);
    search();
  }

  /// The searches of rows go on where there is room for their questions.
  void search() {
    const auto& left_out = parts_->left_out.machine();
    parts_->left_out.go_on();
    parts_->uncovered.go_on(left_out.all_covered(parts_->desk.board()));
    parts_->survey.go_on(parts_->listings.machine());
    parts_->questions_held.set(parts_->questions.machine().bytes()
                               + left_out.bytes());
  }

  std::unique_ptr<supervisor_parts> parts_; ///< Null once it has ended.
};

} // namespace

supervisor_actor spawn_supervisor(caf::actor_system& system,
                                  supervisor_environment env,
                                  supervisor_options options,
                                  listing_options listing) {
  return system.spawn<supervisor>(std::move(env), options, listing);
}

} // namespace weir::actors

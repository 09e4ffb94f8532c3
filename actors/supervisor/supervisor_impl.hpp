#pragma once

#include "actors/supervisor/claims_machine.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/supervisor/supervisor_metrics.hpp"

#include "actors/supervisor/completeness_laps.hpp"
#include "actors/supervisor/completeness_look.hpp"
#include "actors/supervisor/left_out_machine.hpp"
#include "actors/supervisor/listing_debts.hpp"
#include "actors/supervisor/origin_machine.hpp"
#include "actors/supervisor/returned_machine.hpp"
#include "actors/supervisor/setup_hints.hpp"
#include "actors/supervisor/uncovered_laps.hpp"
#include "actors/support/gather.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/timer.hpp"
#include "messages/claims.hpp"
#include "messages/caf_types.hpp"
#include "messages/intake.hpp"
#include "messages/journal.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <set>
#include <unordered_map>

namespace weir::actors {

/// The SUPERVISOR. Its rules are in supervisor_machine, listing_machine and
/// claims_machine.
class supervisor final : public observed<supervisor_actor::base> {
public:
  supervisor(caf::actor_config& config, supervisor_environment env,
             supervisor_options options, listing_options listing);

  behavior_type make_behavior() override;
  void on_exit() override;

private:
  /// A permit, from the moment when it is granted.
  struct running_job {
    uint64_t job = 0;
    backfill_actor handle; ///< Set from the moment when the download begins.
  };

  steady_time now() const { return env_.shared->time->steady_now(); }
  wall_time wall() const { return env_.shared->time->wall_now(); }

  const router_actor& router_of(const atproto::did& repo) const {
    return env_.shared->router_of(repo);
  }

  /// For readers of the log, in the same form as in the lines of UPSTREAM.
  std::string url_of(uint32_t upstream) const {
    return env_.shared->upstreams.find(upstream).origin;
  }

  /// The origin of a PDS; empty for a relay.
  std::string host_of(uint32_t upstream) const {
    const auto from = env_.shared->upstreams.find(upstream);
    return from.relay ? std::string{} : from.origin;
  }

  void arm(const std::optional<steady_time>& at) {
    if (at)
      timer_.arm(this, now(), *at);
  }

  /// Has a READER read rows of any partition.
  void read(std::function<void(store_readers&)> job) {
    send(env_.shared->root().reader_of(0), reader_job{std::move(job)});
  }

  void perform(supervisor_machine::effects x);
  void perform(const listing_machine::effects& x);
  void ask_identity(const atproto::did& repo, bool fresh, std::string by);
  void attend(const attend_repo& x);
  void grant(const begin_fetch& x);
  void give_up(const fetch_pace::download& x, metric& count, const char* why);
  running_job* find(const atproto::did& repo, uint64_t job);
  void scan(const work_scan::request& x);
  void on_scan(const result<scan_page>& x);
  void on_begun(const fetch_begun& x, const backfill_actor& from);
  void on_end(const job_ended& x);
  void on_lost(const atproto::did& repo, uint64_t job);
  void on_intake();
  void cancel_all();

  /// A page of a listing, until the whole page was taken.
  struct page_progress {
    claims_machine::verdict verdict; ///< Of the claims in it.
    std::string cursor; ///< The cursor of the next page.
    size_t listed = 0;
    /// The lines of claimed accounts that are away.
    std::unordered_map<atproto::did, repo_listed> away{};
    /// Its lines that are not taken yet, and its claims that are not decided.
    std::optional<gather> parts{};
  };

  // supervisor_listings.cpp
  void restore(listing_machine::row x);
  std::string name_of(const std::string& collection) const;
  void tell_health(uint32_t upstream, const listing_debts::report& x);
  void tell_holders(uint32_t upstream, const unknown_holders::report& x);
  void list(uint32_t upstream);
  void list_holders(const listing_id& what);
  void on_listing(const listing_page& x);
  void on_compared(const listing_compared& x);
  void give(const router_actor& to, repo_listing lines,
            const std::shared_ptr<page_progress>& page);
  void finish_page(const page_progress& x);

  // supervisor_claims.cpp
  void claim(const std::vector<repo_listed>& lines,
             const std::shared_ptr<page_progress>& page);
  void perform(const claims_machine::effects& x);
  void perform_streams(const claims_machine::effects& x);
  void look_up_claim(const atproto::did& repo, bool anew);
  void prove_directory();
  void on_stream_claim(const stream_claim& x);
  void look_up_named(uint32_t upstream, const atproto::did& repo, bool anew,
                     bool returned);
  void on_identity(const identity_answer& x);
  void look_at_origin(const listing_page& x);
  void perform(const origin_machine::effects& x);
  void perform(const returned_machine::effects& x);
  void on_active(uint32_t upstream, const atproto::did& repo);
  void on_returned(const listing_page& x);
  void take_up(uint32_t upstream, const atproto::did& repo);

  // supervisor_questions.cpp
  void perform(question_machine::effects x);
  void ask_lost(const scan_page& x);
  void on_answer(const account_answer& x);
  void scan_left_out();
  void on_left_out(const left_out_page& x);
  void scan_uncovered();
  void on_uncovered(const result<uncovered_page>& x);
  void compare(const account_told& x);

  // supervisor_completeness.cpp
  void count_complete();
  void on_counted(const result<completeness_page>& x);
  bool mend(const completeness_page& x);
  void hint(const completeness_census& x);

  supervisor_environment env_;
  supervisor_machine machine_;
  listing_machine listing_;
  listing_debts debts_;
  unknown_holders holders_;
  std::chrono::seconds retry_max_;
  claims_machine claims_;
  byte_claim claims_held_;
  origin_machine origins_;
  returned_machine returned_;
  /// The DIDs that streams named and whose documents are looked up. True: the
  /// account is active again, so no ROUTER waits for the answer.
  std::map<std::pair<uint32_t, atproto::did>, bool> named_;
  /// Pages with claims that are not decided yet.
  std::map<listing_id, std::shared_ptr<page_progress>> claimed_;
  std::unordered_map<atproto::did, running_job> jobs_;
  /// Pages to request when there is room again.
  std::vector<listing_machine::request> held_pages_;
  question_machine questions_;
  byte_claim questions_held_;
  bool lost_asked_ = false;
  completeness_budget mends_;
  left_out_machine left_out_;
  uncovered_laps laps_;
  completeness_laps complete_laps_;
  setup_hints hints_;
  completeness_metrics complete_metrics_{env_.shared->metrics};
  fetch_ends ends_{env_.shared->metrics};
  supervisor_metrics metrics_{env_.shared->metrics};
  std::shared_ptr<completeness_look> look_; ///< The one under way.
  uint64_t asked_ = 0; ///< The number of the last question to IDENTITY.
  /// The account by which `prove_directory` tries the directory, and the number of
  /// that question.
  std::optional<std::pair<atproto::did, uint64_t>> proof_;
  actor_timer timer_;
};

} // namespace weir::actors

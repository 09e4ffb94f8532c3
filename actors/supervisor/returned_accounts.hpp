#pragma once

#include "actors/supervisor/claim_checks.hpp"
#include "actors/supervisor/returned_machine.hpp"

namespace weir::actors {

/// Asks PDSs in signal mode about accounts that are active again
/// (`returned_machine`); those with records of a signal collection become
/// claims. It is a part of the SUPERVISOR.
class returned_accounts {
public:
  returned_accounts(supervisor_desk& desk, claim_checks& claims)
    : desk_(desk), claims_(claims) {}

  void on_timer() { perform(machine_.on_timer(desk_.now())); }

  /// In signal mode a stream claims DIDs by commits, which do not concern
  /// documents. A claim whose document may have changed is therefore an account
  /// that is active again. While repos are not fetched, such accounts are left
  /// to the next listing.
  void on_claim(const stream_claim& x) {
    if (!x.anew || desk_.env.holders_listing.empty())
      claims_.on_named(x.upstream, x.repo, x.anew, false);
    else if (desk_.shared().intake.backfills())
      perform(machine_.on_active(x.upstream, x.repo, desk_.now()));
  }

  /// The answer about one account. A host that does not offer this request has
  /// given its final answer.
  void on_answer(const listing_page& x) {
    const auto fails = !x.repos && x.repos.error().code != ec::not_found;
    if (fails || x.unanswered > 0)
      return perform(
        machine_.on_failed(x.upstream, x.retry_after, desk_.now()));
    if (x.repos)
      for (const auto& line : *x.repos)
        claims_.on_named(x.upstream, line.repo, true, true);
    perform(machine_.on_answer(x.upstream, desk_.now()));
  }

private:
  void perform(const returned_machine::effects& x) {
    for (const auto& each : x.ask)
      desk_.env.list(desk_.board().find(each.upstream), one_account,
                     each.repo.str(), desk_.sink());
    desk_.arm(x.timer);
  }

  supervisor_desk& desk_;
  claim_checks& claims_;
  returned_machine machine_;
};

} // namespace weir::actors

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
    : desk_(desk), claims_(claims),
      machine_(!desk.env.holders_listing.empty()) {}

  void on_timer() { perform(machine_.on_timer(desk_.now())); }

  void on_claim(const stream_claim& x) {
    perform(machine_.on_claim(x, desk_.shared().intake.backfills(),
                              desk_.now()));
  }

  void on_answer(const listing_page& x) {
    perform(machine_.on_answer(x, desk_.now()));
  }

private:
  void perform(const returned_machine::effects& x) {
    for (const auto& each : x.claims)
      claims_.on_named(each, false);
    for (const auto& each : x.returned)
      claims_.on_named(each, true);
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

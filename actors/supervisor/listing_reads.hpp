#pragma once

#include "actors/supervisor/claim_checks.hpp"
#include "actors/supervisor/completeness_survey.hpp"
#include "actors/supervisor/left_out_search.hpp"
#include "actors/supervisor/listing_debts.hpp"
#include "actors/supervisor/listing_machine.hpp"

namespace weir::actors {

/// The listings of upstreams: requests their pages, has READER compare them
/// with the rows, and hands on what is news. `listing_machine` decides. Part of
/// the SUPERVISOR.
class listing_reads {
public:
  listing_reads(supervisor_desk& desk, claim_checks& claims,
                left_out_search& left_out, completeness_survey& survey,
                const listing_options& options);

  void on_timer() {
    perform(machine_.on_timer(desk_.board(), desk_.now(), desk_.wall()));
  }

  void on_clock_set() {
    perform(machine_.on_clock_set(desk_.now(), desk_.wall()));
  }

  /// An upstream may have missed events, so its repos are compared.
  void on_wanted(uint32_t upstream);

  /// Requests the pages that had to wait while there was no room.
  void on_intake() {
    if (!desk_.shared().intake.backfills())
      return;
    for (const auto& page : std::exchange(waiting_, {}))
      desk_.env.list(desk_.board().find(page.what.upstream),
                     page.what.collection, page.cursor, desk_.sink());
  }

  void on_page(const listing_page& x);
  void on_compared(const listing_compared& x);

  const listing_machine& machine() const noexcept { return machine_; }

private:
  void perform(const listing_machine::effects& x);
  void restore(listing_machine::row x);
  void on_failed(const listing_page& x);
  void finish(const listing_machine::effects& x);
  void write(const listing_machine::row& x);
  void finish_page(const page_progress& x);

  /// The name of a listing for readers of the log.
  std::string name_of(const std::string& collection) const {
    return !collection.empty() && collection == desk_.env.holders_listing
             ? "those of signal_collection"
             : collection;
  }

  /// Tells HEALTH what is wrong with a listing, if that changed.
  /// @param to The function of HEALTH for this kind of listing.
  void report(uint32_t upstream, const std::optional<std::string>& x,
              void (health_machine::*to)(uint32_t, std::string_view)) {
    if (x)
      desk_.shared().health.with(
        [&](health_machine& health) { (health.*to)(upstream, *x); });
  }

  supervisor_desk& desk_;
  claim_checks& claims_;
  left_out_search& left_out_;
  completeness_survey& survey_;
  listing_machine machine_;
  listing_debts debts_;
  unknown_holders holders_;
  /// Pages to request when there is room again.
  std::vector<listing_machine::request> waiting_;
};

} // namespace weir::actors

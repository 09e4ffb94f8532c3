#pragma once

#include "actors/supervisor/account_questions.hpp"
#include "actors/supervisor/completeness_laps.hpp"
#include "actors/supervisor/completeness_look.hpp"
#include "actors/supervisor/left_out_machine.hpp"
#include "actors/supervisor/setup_hints.hpp"
#include "actors/support/node_sums.hpp"

namespace weir::actors {

/// Counts the complete repos, and has others mended: READER goes through all
/// rows, a page at a time. `completeness_laps` decides when,
/// `completeness_look` what a row lacks, and `completeness_budget` how many are
/// mended at once. Part of the SUPERVISOR.
class completeness_survey {
public:
  completeness_survey(supervisor_desk& desk, account_questions& questions,
                      completeness_budget& budget, left_out_machine& left_out,
                      std::chrono::seconds interval)
    : desk_(desk), questions_(questions), budget_(budget), left_out_(left_out),
      laps_(interval) {
    laps_.start(desk.now());
  }

  /// Reads the next page, if its time has come.
  /// @param listings Know which upstreams' listings were compared.
  void go_on(const listing_machine& listings) {
    if (const auto after = laps_.next(desk_.now())) {
      const auto all = desk_.board().all();
      if (after->empty()) {
        look_
          = std::make_shared<completeness_look>(desk_.env.filter_generation);
        budget_.on_begin();
        hints_.on_look(all);
      }
      std::set<uint32_t> listed;
      for (const auto& x : all)
        if (listings.is_compared({x.id, {}}, x.epoch))
          listed.insert(x.id);
      desk_.read([to = desk_.sink(), shared = desk_.env.shared, look = look_,
                  listed = std::move(listed), after = *after](store_readers&) {
        caf::anon_send(to, read_page(*shared, *look, listed, after));
      });
    }
    desk_.arm_later(laps_.due());
  }

  void on_page(const result<completeness_page>& x) {
    if (!x) {
      log::warn("completeness_unread", {{"reason", to_string(x.error())}});
      laps_.on_failure(desk_.now());
      return;
    }
    for (const auto& each : x->unread)
      log::warn("completeness_unread", {{"repo", each.id.str()},
                                        {"reason", to_string(each.why)}});
    bool asked = false;
    for (const auto& each : x->repos) {
      const auto help
        = budget_.help_for(each, questions_.machine(), desk_.now());
      if (help.wake)
        desk_.tell(each.id, repo_incomplete{each.id});
      if (help.ask)
        questions_.ask(*help.ask);
      asked |= help.ask.has_value();
    }
    if (x->end)
      finish();
    else
      laps_.on_page(x->last, asked, desk_.now());
  }

  /// Something happened that the next look should see soon.
  void hurry() { laps_.hurry(desk_.now()); }

  setup_hints& hints() noexcept { return hints_; }

private:
  static result<completeness_page> read_page(const context& shared,
                                             completeness_look& look,
                                             const std::set<uint32_t>& listed,
                                             const atproto::did& after) {
    const auto rows = shared.stores.page(after);
    if (!rows)
      return rows.error();
    const auto chain_of = [&](const auto& repo) -> completeness_look::chain {
      auto known = shared.stores.of(repo).load_repo(repo);
      if (!known)
        return known.error();
      return std::move(known->chain);
    };
    return look.take(*rows,
                     {shared.upstreams, listed, shared.time->steady_now(),
                      shared.time->wall_now(), chain_of});
  }

  void finish() {
    const auto look = std::exchange(look_, nullptr);
    auto& census = look->census;
    census.close();
    const auto& all = census.all();
    metrics_.set(all);
    hint(census);
    left_out_.on_counted(all);
    desk_.shared().completeness.put({{look, &census}, desk_.wall()});
    budget_.on_end();
    laps_.on_end(all, desk_.now());
  }

  void hint(const completeness_census& x) {
    for (const auto& origin : hints_.pds_relays(desk_.board().all(), x))
      log::warn("relay_is_pds",
                {{"upstream", origin},
                 {"hint", "it is the PDS of accounts in its stream, not a "
                          "relay: name it in upstream as pds:"
                            + origin + " instead of relay:" + origin}});
    if (hints_.finds_nobody(x))
      log::warn("signal_finds_nobody",
                {{"hint", "no account has records of signal_collection: is it "
                          "the name of a collection that exists? An account "
                          "that writes one is tracked from then on"}});
    if (desk_.env.keeps_some
        && hints_.keeps_nothing(x, record_count(desk_.shared())))
      log::warn("collections_keep_nothing",
                {{"repos", x.all().active},
                 {"hint", "none of these repos has a record in one of the "
                          "configured collections, so nothing of them is "
                          "stored: are those the names of collections that "
                          "exist?"}});
  }

  supervisor_desk& desk_;
  account_questions& questions_;
  completeness_budget& budget_;
  left_out_machine& left_out_;
  completeness_laps laps_;
  setup_hints hints_;
  completeness_metrics metrics_{desk_.shared().metrics};
  /// The look under way. While a page is read, only its READER uses it.
  std::shared_ptr<completeness_look> look_;
};

} // namespace weir::actors

#pragma once

#include "actors/supervisor/completeness_laps.hpp"
#include "actors/supervisor/known_absences.hpp"
#include "actors/supervisor/left_out_scans.hpp"
#include "actors/supervisor/question_machine.hpp"
#include "messages/account.hpp"
#include "storage/tables/limits.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace weir::actors {

/// Decides what follows when the listing of an upstream leaves out repos that
/// it should name: their hosts are asked (protocol-coverage.md 4.5, 9). When a
/// host has answered for a repo, and the same relay leaves the repo out again,
/// that relay does not carry it. Without CAF, clock or store.
///
/// # Ownership and threads
/// Borrows the questions and the budget. Part of the SUPERVISOR.
class left_out_machine {
public:
  struct verdict {
    /// The REPO notes that the relay leaves it out although its host has it.
    bool note = false;
    std::optional<question_machine::question> ask{};
  };

  /// @param census_entries DIDs that are remembered of a listing under way.
  /// @param absences_max Repos that are remembered as left out by relays.
  left_out_machine(const question_machine& questions,
                   completeness_budget& budget, size_t census_entries,
                   size_t absences_max)
    : questions_(questions), budget_(budget), census_entries_(census_entries),
      absences_(absences_max) {}

  // -- the listing of all repos of an upstream --------------------------------

  void on_begin(uint32_t upstream, wall_time wall) {
    censuses_[upstream]
      = {std::make_shared<listing_census>(census_entries_, ++turn_),
         wall.seconds()};
  }

  void on_lines(uint32_t upstream, const std::vector<repo_listed>& lines) {
    const auto census = censuses_.find(upstream);
    if (census == censuses_.end())
      return;
    for (const auto& line : lines)
      census->second.named->add(atproto::stable_hash(line.repo.str()));
  }

  void on_failed(uint32_t upstream) { whole_.erase(upstream); }

  /// It named all repos that there are, so the rows are searched for others.
  /// @param pds The host whose repos these are; empty for a relay.
  void on_whole(uint32_t upstream, std::string pds) {
    const auto census = censuses_.extract(upstream);
    if (census.empty())
      return;
    const auto& [named, since] = census.mapped();
    named->close();
    whole_.insert(upstream);
    scans_.add({upstream, std::move(pds), since, named, whole_, {}});
  }

  // -- the search -------------------------------------------------------------

  /// The page of rows that is to be read now.
  std::optional<left_out_scans::scan> next() {
    return scans_.next([this](const std::string& pds) {
      return pds.empty() || questions_.has_room(pds);
    });
  }

  using rows = std::vector<std::pair<atproto::did, storage::repo_row>>;

  /// Selects from a page of rows those that the listing left out.
  static left_out_page pick(const left_out_scans::scan& scan,
                            const result<rows>& found,
                            const upstream_board& board, wall_time now) {
    left_out_page out;
    out.upstream = scan.upstream;
    if (!found) {
      out.repos = found.error();
      return out;
    }
    for (const auto& [repo, row] : *found)
      if (left_out_scans::is_left_out(scan, repo, row, board, now))
        out.repos->push_back({repo, row.pds,
                              left_out_scans::to_prove(row, board),
                              row.left_out_by == scan.upstream});
    out.end = found->size() < limits::repos_page_max;
    if (!found->empty())
      out.next = found->back().first;
    return out;
  }

  /// Decides about one repo of that page. After a loss of events the listing
  /// would have proved the copy. As it left the repo out, the host is asked for
  /// that proof instead, even if it answered a moment before the loss.
  /// @param relay The upstream is a relay.
  verdict on_left_out(uint32_t upstream, bool relay,
                      const left_out_page::repo& x, steady_time now) {
    question_machine::question about{x.id, x.pds};
    about.left_out = true;
    about.noted = x.noted;
    about.prove = x.noted.defined();
    about.prove = about.prove && questions_.is_new(about, now)
                  && budget_.may_ask(x.pds, now);
    const auto is_news
      = !relay || absences_.on_left_out(upstream, x.id, x.pds, now);
    has_left_out_ |= !is_news;
    verdict out{.note = !is_news && !x.is_known};
    if (is_news || about.prove)
      out.ask = std::move(about);
    return out;
  }

  /// There was no room for the question about this repo.
  void on_shortage(const atproto::did& repo) { scans_.on_shortage(repo); }

  void on_page(const atproto::did& last, bool end) {
    scans_.on_page(last, end);
  }

  /// The host answered what the account's status is.
  void on_answered(const atproto::did& repo, const std::string& pds) {
    absences_.on_answered(repo, pds);
  }

  // -- what is covered --------------------------------------------------------

  /// All rows were counted. They may show that an upstream does not cover a
  /// repo, perhaps since an earlier start.
  void on_counted(const completeness_count& x) noexcept {
    has_left_out_ |= x.without[completeness::covered_term] > 0;
  }

  /// Whether a relay is followed that, as far as is known, carries every repo:
  /// a host that is not followed is covered only by a relay.
  bool all_covered(const upstream_board& board) const {
    return !has_left_out_ && board.accounting_for({}).id != 0;
  }

  /// The approximate memory in bytes.
  size_t bytes() const noexcept { return absences_.bytes(); }

private:
  struct running_census {
    std::shared_ptr<listing_census> named;
    int64_t since = 0; ///< When the listing began, in Unix seconds.
  };

  const question_machine& questions_;
  completeness_budget& budget_;
  size_t census_entries_;
  uint64_t turn_ = 0; ///< The turn of the last census.
  /// The repos that the listing under way of each upstream has named.
  std::map<uint32_t, running_census> censuses_;
  /// Upstreams whose last listing named all repos that they have.
  std::set<uint32_t> whole_;
  left_out_scans scans_;
  known_absences absences_;
  bool has_left_out_ = false; ///< A relay does not carry all repos.
};

} // namespace weir::actors

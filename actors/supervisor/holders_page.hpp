#pragma once

#include "actors/supervisor/host_answers.hpp"

#include <utility>
#include <vector>

namespace weir::actors {

/// A page of a PDS whose accounts are asked about one after the other. No
/// clock, threads or I/O in here.
///
/// `holders_machine` decides which accounts are passed over
/// (`listing_page::unanswered`; the next listing asks about them again) and
/// when the page fails. The page also fails when the host asks us to wait: with
/// `ec::rate_limited` if it has answered before that, so that the work goes on
/// where it was. When a page that failed comes again, accounts with an answer
/// are not asked about a second time. A host that denies all accounts that it
/// lists is not believed: at the end of such a listing they count as
/// unanswered.
class holders_page {
public:
  using said = holders_run::said;

  /// @param first Whether it is the first page of its listing.
  holders_page(holders_run run, bool first, listing_page page)
    : run_(std::move(run)), lines_(std::move(*page.repos)),
      out_(std::move(page)) {
    out_.repos->clear();
    if (first)
      run_.begin();
  }

  /// Skips tracked repos: they are followed whatever records they have, and the
  /// listing of all repos compares them.
  template <class Tracked>
  void pass_over_known(const Tracked& is_tracked) {
    for (auto& line : std::exchange(lines_, {})) {
      const auto active = line.account == storage::account_status::active;
      const auto tracked = active && is_tracked(line.repo);
      known_ += tracked ? 1 : 0;
      (active && !tracked ? lines_ : out_.without).push_back(std::move(line));
    }
  }

  /// The account to ask about. Null: all were asked about; the page is done.
  const atproto::did* next() {
    while (said_.size() < lines_.size()) {
      const auto& repo = lines_[said_.size()].repo;
      const auto x = run_.kept(repo);
      if (!x) {
        ++out_.asked;
        return &repo;
      }
      if (*x != said::nothing)
        machine_.on_known();
      said_.push_back(*x);
    }
    end_page();
    return nullptr;
  }

  /// @returns whether the page goes on after this answer; otherwise it failed.
  bool on_answer(const result<host_answer>& x,
                 const wire::collection_filter& wanted) {
    if (x && x->status == 429) { // The host asks us to wait.
      return give_up(
        fail(answered_ > 0 ? ec::rate_limited : ec::unreachable, "HTTP 429"),
        true, x->wait);
    }
    const auto [kind, word]
      = read_description(x, lines_[said_.size()].repo, wanted);
    switch (machine_.on_answer(kind)) {
      case holders_machine::step::again:
        return true;
      case holders_machine::step::next:
        said_.push_back(word);
        answered_ += word == said::nothing ? 0 : 1;
        return true;
      case holders_machine::step::not_offered:
        return give_up(fail(ec::not_found, "describeRepo is not offered"),
                       false);
      case holders_machine::step::host_away:
        break;
    }
    return give_up(x ? fail(ec::unreachable,
                            "describeRepo: HTTP " + std::to_string(x->status))
                     : x.error(),
                   true);
  }

  listing_page take_page() { return std::move(out_); } ///< Call it at the end.
  holders_run take_run() { return std::move(run_); }   ///< Call it at the end.

private:
  /// @param keep Keeps the answers. Accounts that were passed over are asked
  ///        about again, since the host may already have been away.
  bool give_up(error why, bool keep, std::chrono::seconds wait = {}) {
    run_.forget_page();
    for (size_t i = 0; keep && i < said_.size(); ++i)
      if (said_[i] != said::nothing)
        run_.keep(lines_[i].repo, said_[i]);
    out_.repos = std::move(why);
    out_.retry_after = wait;
    out_.without.clear();
    return false;
  }

  /// All accounts of the page were asked about.
  void end_page() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      run_.count(said_[i]);
      (said_[i] == said::holds ? *out_.repos : out_.without)
        .push_back(std::move(lines_[i]));
    }
    run_.count_known(known_);
    run_.forget_page();
    out_.unanswered = machine_.unanswered();
    if (out_.cursor.empty())
      out_.unanswered += run_.disowned();
  }

  holders_run run_;
  std::vector<repo_listed> lines_;
  std::vector<said> said_; ///< The results for the first lines.
  listing_page out_;
  size_t answered_ = 0; ///< Answers since the page was requested.
  size_t known_ = 0;    ///< Active accounts of the page that are tracked.
  holders_machine machine_;
};

} // namespace weir::actors

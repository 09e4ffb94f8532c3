#pragma once

#include "actors/identity/lookup_answers.hpp"
#include "actors/support/context.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/journal.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Reports outcomes of the directory and of the handle resolver to the node's
/// health board and clock board (architecture.md, Health).
///
/// # Threads
/// A part of IDENTITY.
class identity_health {
public:
  explicit identity_health(context_ptr shared) : shared_(std::move(shared)) {}

  /// These documents are requested, and, if `handles`, owners of handles.
  void note_asked(const std::vector<atproto::did>& documents, bool handles,
                  steady_time now) {
    const auto directory
      = std::any_of(documents.begin(), documents.end(), is_of_directory);
    if (!directory && !handles)
      return;
    shared_->health.with([&](health_machine& health) {
      if (directory)
        health.on_asked(false, now);
      if (handles)
        health.on_asked(true, now);
    });
  }

  /// A long rest is a finding of its own: nothing is asked, so nothing fails.
  /// @param until None: the directory never limited us.
  void note_rest(std::optional<steady_time> until, steady_time now) {
    if (!until || until == rest_reported_)
      return;
    rest_reported_ = until;
    shared_->health.with([&](health_machine& health) {
      health.on_directory_rest(*until, now);
    });
  }

  void on_document(const identity_document& x, steady_time now,
                   wall_time wall) {
    if (x.date)
      shared_->signers.on_directory(*x.date, x.date_is_proved, now, wall);
    if (!is_of_directory(x.repo))
      return;
    const auto outcome = outcome_of(x);
    shared_->health.with([&](health_machine& health) {
      health.remember(x.repo, outcome.fault == look_up_fault::none);
      if (!outcome.is_unknown())
        health.on_look_up(atproto::stable_hash(x.repo.str()), outcome.fault,
                          outcome.text, now);
    });
    if (outcome.is_unknown())
      note_unknown(x.repo, outcome, now);
  }

  void on_handle(const identity_handle& x, steady_time now) {
    if (x.resolver == resolver_answer::not_asked)
      return shared_->health.with([](health_machine& health) {
        health.on_resolver_unasked();
      });
    const auto failure = x.resolver == resolver_answer::given
                           ? std::string{}
                           : to_string(x.owner.error());
    shared_->health.with([&](health_machine& health) {
      health.on_handle(failure, now);
    });
  }

  void end() { shared_ = nullptr; }

private:
  /// The store decides what it means.
  void note_unknown(const atproto::did& repo, const document_outcome& outcome,
                    steady_time now) {
    auto job = [shared = shared_, repo, outcome, now](store_readers& store) {
      const auto row = store.load_identity(repo);
      const auto fault = row ? outcome.fault_beside(*row) : outcome.fault;
      shared->health.with([&](health_machine& health) {
        health.on_look_up(atproto::stable_hash(repo.str()), fault, outcome.text,
                          now);
      });
    };
    caf::anon_send(shared_->home_of(repo).reader_of(repo),
                   reader_job{std::move(job)});
  }

  context_ptr shared_;
  std::optional<steady_time> rest_reported_;
};

} // namespace weir::actors

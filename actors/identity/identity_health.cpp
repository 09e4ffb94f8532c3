#include "actors/identity/identity_health.hpp"

#include "actors/identity/document_outcome.hpp"
#include "actors/support/store_readers.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

bool is_of_directory(const atproto::did& x) {
  return x.str().starts_with("did:plc:");
}

} // namespace

void identity_health::note_asked(const std::vector<atproto::did>& documents,
                                 bool handles, steady_time now) {
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

void identity_health::note_rest(std::optional<steady_time> until,
                                steady_time now) {
  if (!until || until == rest_told_)
    return;
  rest_told_ = until;
  shared_->health.with([&](health_machine& health) {
    health.on_directory_rest(*until, now);
  });
}

void identity_health::on_document(const identity_document& x, steady_time now,
                                  wall_time wall) {
  if (x.date)
    shared_->signers.on_directory(*x.date, x.date_is_proved, now, wall);
  if (!is_of_directory(x.repo))
    return;
  const auto [fault, text] = outcome_of(x);
  const auto is_unknown = fault == look_up_fault::unknown
                          || fault == look_up_fault::foreign;
  shared_->health.with([&](health_machine& health) {
    health.remember(x.repo, fault == look_up_fault::none);
    if (!is_unknown)
      health.on_look_up(atproto::stable_hash(x.repo.str()), fault, text, now);
  });
  if (is_unknown)
    note_unknown(x.repo, fault, text, now);
}

void identity_health::on_handle(const identity_handle& x, steady_time now) {
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

/// A directory keeps every document. The store tells whether it had one of this
/// DID.
void identity_health::note_unknown(const atproto::did& repo,
                                   look_up_fault fault, std::string text,
                                   steady_time now) {
  reader_job job;
  job.run = [shared = shared_, repo, fault, text = std::move(text),
             now](store_readers& store) {
    const auto row = store.load_identity(repo);
    const auto had = row && *row && !(*row)->tombstoned;
    shared->health.with([&](health_machine& health) {
      health.on_look_up(atproto::stable_hash(repo.str()),
                        had ? look_up_fault::lost : fault, text, now);
    });
  };
  caf::anon_send(shared_->home_of(repo).reader_of(repo), std::move(job));
}

} // namespace weir::actors

#include "tests/sim/kept.hpp"

#include "tests/sim/enemies.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// Times of documents are whole seconds.
constexpr std::chrono::microseconds rounding = 2s;

/// Whether a node that believes the deed considers an account deleted.
bool denies_accounts(const deed& x) noexcept {
  return x.kind == deed_kind::fault
         && (x.what == simnet::fault_kind::missing_repo
             || x.what == simnet::fault_kind::directory_wrong
             || x.what == simnet::fault_kind::directory_gone);
}

bool is_gone(simnet::standing x) noexcept {
  return x == simnet::standing::deleted || x == simnet::standing::tombstoned;
}

} // namespace

void kept_watch::note(const deed& x, steady_time now) {
  clock_was_wrong_ |= x.kind == deed_kind::clock;
  if (!denies_accounts(x))
    return;
  if (!first_)
    first_ = now;
  last_ = std::max(last_, now + x.lasting);
}

std::string kept_watch::check(scene& x) {
  if (clock_was_wrong_ || (first_ && last_ - *first_ + rounding >= grace_))
    return {};
  auto& truth = x.life().truth();
  std::string out;
  x.application().read([&](const apps::event_copy& copy) {
    for (const auto& [did, account] : copy.accounts()) {
      if (!account.records.empty())
        held_.insert(did);
      const auto index = truth.find(did);
      if (account.status == "deleted" && held_.contains(did) && index
          && !is_gone(truth.view(*index).status) && !is_of_enemy(truth, did))
        out = did + " is deleted for the application, and never was";
    }
  });
  return out;
}

} // namespace weir::sim

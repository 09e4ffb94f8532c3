#include "actors/supervisor/known_absences.hpp"

#include "actors/supervisor/limits_accounts.hpp"

#include <utility>

namespace weir::actors {

namespace {

uint64_t key_of(const atproto::did& repo, const std::string& pds) {
  return atproto::stable_hash(repo.str() + ' ' + pds);
}

} // namespace

bool known_absences::on_left_out(uint32_t relay, const atproto::did& repo,
                                 const std::string& pds, steady_time now) {
  forget_old(now);
  const auto key = key_of(repo, pds);
  const auto bit = uint64_t{1} << (relay % 64);
  if (auto* known = find(key)) {
    if ((known->relays & bit) == 0) {
      known->relays |= bit;
      known->told = false;
    }
    return !known->told;
  }
  if (size() < most_)
    young_.emplace(key, absence{bit, false});
  return true;
}

void known_absences::on_told(const atproto::did& repo, const std::string& pds) {
  if (auto* known = find(key_of(repo, pds)))
    known->told = true;
}

void known_absences::forget_old(steady_time now) {
  if (!turned_)
    turned_ = now;
  if (now - *turned_ < limits::known_absence_memory)
    return;
  if (now - *turned_ >= 2 * limits::known_absence_memory)
    young_.clear();
  old_ = std::exchange(young_, {});
  turned_ = now;
}

known_absences::absence* known_absences::find(uint64_t key) {
  for (auto* all : {&young_, &old_})
    if (const auto i = all->find(key); i != all->end())
      return &i->second;
  return nullptr;
}

} // namespace weir::actors

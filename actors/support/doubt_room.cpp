#include "actors/support/doubt_room.hpp"

#include "actors/support/identity_source.hpp"
#include "actors/support/limits.hpp"

#include <utility>

namespace weir::actors {

namespace {

bool grows_beyond(uint64_t all, uint64_t was, uint64_t now,
                  uint64_t most) noexcept {
  return now > was && all - was + now > most;
}

} // namespace

std::string doubt_source(const atproto::did& repo, uint32_t upstream) {
  auto out = identity_source(repo);
  return out == directory_source ? "stream " + std::to_string(upstream) : out;
}

bool doubt_room::change(const std::string& source, const doubt_bytes& was,
                        const doubt_bytes& now) {
  const std::lock_guard guard{mutex_};
  auto& own = sources_[source];
  constexpr auto part = limits::doubt_source_part;
  const auto fits
    = !grows_beyond(all_.memory, was.memory, now.memory, most_.memory)
      && !grows_beyond(all_.disk, was.disk, now.disk, most_.disk)
      && !grows_beyond(own.memory, was.memory, now.memory, most_.memory / part)
      && !grows_beyond(own.disk, was.disk, now.disk, most_.disk / part);
  if (fits)
    for (auto* x : {&all_, &own}) {
      x->memory += now.memory - was.memory;
      x->disk += now.disk - was.disk;
    }
  if (own == doubt_bytes{})
    sources_.erase(source);
  return fits;
}

doubt_bytes doubt_room::held() const {
  const std::lock_guard guard{mutex_};
  return all_;
}

bool doubt_claim::set(std::string source, const doubt_bytes& now) {
  if (now == held_)
    return true;
  if (held_ == doubt_bytes{})
    source_ = std::move(source);
  if (!room_->change(source_, held_, now))
    return false;
  held_ = now;
  return true;
}

void doubt_claim::clear() noexcept {
  if (held_ != doubt_bytes{})
    room_->change(source_, std::exchange(held_, {}), {});
}

} // namespace weir::actors

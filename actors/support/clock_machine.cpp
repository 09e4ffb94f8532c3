#include "actors/support/clock_machine.hpp"

#include "atproto/limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace weir::actors {

namespace {

constexpr int64_t micros(std::chrono::microseconds x) {
  return x.count();
}

/// Mixes all bits (splitmix64), so that neighbours are far apart afterwards.
uint64_t mix(uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The entry of `rank`, which is added when it is absent. When there are more
/// than `most`, those with the lowest ranks stay; nobody can choose a rank.
/// @returns null when the new entry does not stay
template <class T>
T* place_of(std::vector<T>& all, uint64_t rank, size_t most) {
  if (const auto same = std::ranges::find(all, rank, &T::rank);
      same != all.end())
    return &*same;
  if (all.size() < most) {
    all.emplace_back().rank = rank;
    return &all.back();
  }
  auto& highest = *std::ranges::max_element(all, {}, &T::rank);
  if (rank > highest.rank)
    return nullptr;
  highest = T{};
  highest.rank = rank;
  return &highest;
}

} // namespace

void clock_machine::on_signed(const signed_rev& x, steady_time now,
                              wall_time wall) {
  note_time(now, wall);
  const auto distance = x.rev.micros - wall.micros;
  if (distance < -micros(limits::rev_future_max))
    return; // This is an old rev.
  auto& from = heard_[x.upstream];
  from.relay = x.relay;
  from.hosts_min = x.relay ? limits::clock_hosts_min : 1;
  const auto ahead = distance > micros(limits::rev_future_max);
  remember(from, mix(x.host ^ salt_),
           {mix(x.signer ^ salt_), now, x.rev.micros - now.micros, ahead});
  if (ahead || suspect_) // Who agrees makes no clock suspect.
    judge(now, wall);
}

void clock_machine::remember(stream& to, uint64_t host,
                             const heard_signer& x) {
  const auto is_old = [&x](const heard_signer& y) {
    return x.at - y.at > limits::clock_memory;
  };
  if (to.hosts.size() >= limits::clock_hosts_max)
    std::erase_if(to.hosts, [&](const heard_host& y) {
      return std::ranges::all_of(y.signers, is_old);
    });
  auto* from = place_of(to.hosts, host, limits::clock_hosts_max);
  if (from == nullptr)
    return;
  std::erase_if(from->signers, is_old);
  if (auto* place = place_of(from->signers, x.rank,
                             limits::clock_host_signers_max))
    *place = x;
}

clock_machine::tally clock_machine::count(const heard_host& x,
                                          steady_time now) {
  tally out;
  for (const auto& signer : x.signers)
    if (now - signer.at <= limits::clock_memory) {
      ++out.heard;
      out.ahead += signer.ahead ? 1 : 0;
    }
  return out;
}

clock_machine::votes clock_machine::count(const stream& x, steady_time now) {
  votes out;
  out.hosts_min = x.hosts_min;
  for (const auto& host : x.hosts) {
    const auto seen = count(host, now);
    out.signers.heard += seen.heard;
    out.signers.ahead += seen.ahead;
    out.hosts.heard += seen.heard > 0 ? 1 : 0;
    out.hosts.ahead += seen.most_ahead() ? 1 : 0;
  }
  return out;
}

bool clock_machine::was_set(steady_time now, wall_time wall) const noexcept {
  return our_clock_
         && std::abs(wall.micros - now.micros - *our_clock_)
              >= micros(limits::clock_step);
}

/// After the wall clock was set, the earlier evidence is worthless.
void clock_machine::note_time(steady_time now, wall_time wall) {
  const auto set = was_set(now, wall);
  const auto before = std::exchange(our_clock_, wall.micros - now.micros);
  if (!set)
    return;
  heard_.clear();
  if (*our_clock_ > *before)
    ++corrections_;
}

bool clock_machine::is_vouched_for(steady_time now,
                                   wall_time wall) const noexcept {
  return directory_ && now - directory_->at <= limits::clock_witness_memory
         && std::abs(wall.micros - now.micros - directory_->clock)
              <= micros(limits::rev_future_max);
}

void clock_machine::on_directory(wall_time date, bool is_proved,
                                 steady_time now, wall_time wall) {
  note_time(now, wall);
  date_ = witness{date.micros - now.micros, now};
  if (!is_proved)
    return;
  directory_ = witness{date.micros - now.micros, now};
  if (suspect_ && is_vouched_for(now, wall))
    trust();
}

/// Streams with too few signers of their own, as one stream. No host votes
/// twice: hosts that have a vote on another stream are left out.
clock_machine::stream clock_machine::small_streams(steady_time now) const {
  std::set<uint64_t> have_votes;
  std::vector<const stream*> small;
  for (const auto& [id, x] : heard_) {
    if (!count(x, now).enough()) {
      small.push_back(&x);
      continue;
    }
    for (const auto& host : x.hosts)
      have_votes.insert(host.rank);
  }
  stream out;
  out.hosts_min = limits::clock_hosts_min;
  for (const auto* x : small)
    for (const auto& host : x->hosts)
      for (const auto& signer : host.signers)
        if (now - signer.at <= limits::clock_memory
            && !have_votes.contains(host.rank))
          remember(out, host.rank, signer);
  return out;
}

void clock_machine::judge(steady_time now, wall_time wall) {
  if (holds() || is_vouched_for(now, wall))
    return;
  size_t judged = 0;
  size_t behind = 0;
  bool is_sure = false;
  for (const auto& [id, x] : heard_) {
    const auto seen = count(x, now);
    if (!seen.enough())
      continue;
    ++judged;
    if (seen.says_behind()) {
      ++behind;
      is_sure |= x.relay;
    }
  }
  auto streams = behind;
  const auto small = small_streams(now);
  const auto seen = count(small, now);
  if (seen.enough())
    ++judged;
  if (seen.says_behind()) {
    ++behind;
    streams += seen.hosts.ahead;
    is_sure |= seen.hosts.ahead >= limits::clock_small_hosts_min;
  }
  if (2 * behind > judged && (is_sure || 2 * streams > streams_))
    suspect(small, now);
  else if (judged > behind && suspect_)
    trust();
}

void clock_machine::call_witnesses(const stream& x, steady_time now) {
  if (!count(x, now).says_behind())
    return;
  for (const auto& host : x.hosts)
    for (const auto& signer : host.signers)
      if (signer.ahead)
        witnesses_.push_back(signer.clock);
}

void clock_machine::suspect(const stream& small, steady_time now) {
  witnesses_.clear();
  for (const auto& [id, x] : heard_)
    call_witnesses(x, now);
  call_witnesses(small, now);
  const auto middle
    = witnesses_.begin() + static_cast<std::ptrdiff_t>(witnesses_.size() / 2);
  std::nth_element(witnesses_.begin(), middle, witnesses_.end());
  if (!suspect_)
    behind_ = std::chrono::microseconds{*middle - *our_clock_};
  suspect_ = true;
  hold_until_ = now + limits::clock_hold;
}

void clock_machine::trust() {
  suspect_ = false;
  hold_until_.reset();
  witnesses_.clear();
}

void clock_machine::on_timer(steady_time now, wall_time wall) {
  note_time(now, wall);
  if (!suspect_)
    return;
  const auto still = std::ranges::count_if(witnesses_, [this](offset x) {
    return x > *our_clock_ + micros(limits::rev_future_max);
  });
  if (2 * static_cast<size_t>(still) < witnesses_.size()) {
    trust();
  } else if (hold_until_ && *hold_until_ <= now) {
    hold_until_.reset();
    heard_until_ = now + limits::clock_hearing_max;
    heard_.clear(); // All signers must be received again.
  } else if (!hold_until_ && heard_until_ <= now) {
    trust(); // Those that made it suspect are gone.
  }
}

clock_state clock_machine::state(steady_time now,
                                 wall_time wall) const noexcept {
  clock_state out{suspect_, holds(), behind_, corrections_};
  if (!date_ || now - date_->at > limits::clock_witness_memory)
    return out;
  const auto ahead = date_->clock - (wall.micros - now.micros);
  if (std::abs(ahead) > micros(limits::rev_future_max))
    out.directory_ahead = std::chrono::microseconds{ahead};
  return out;
}

clock_verdict clock_machine::verdict(uint32_t upstream, steady_time now,
                                     wall_time wall) const {
  if (suspect_)
    return holds() ? clock_verdict::suspect : clock_verdict::hearing;
  if (is_vouched_for(now, wall))
    return clock_verdict::right;
  if (was_set(now, wall))
    return clock_verdict::undecided;
  const auto i = heard_.find(upstream);
  return i != heard_.end() && count(i->second, now).enough()
           ? clock_verdict::right
           : clock_verdict::undecided;
}

} // namespace weir::actors

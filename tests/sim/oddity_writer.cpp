#include "tests/sim/oddity_writer.hpp"

#include "tests/sim/moments.hpp"
#include "tests/sim/oddities.hpp"

#include <algorithm>

namespace weir::sim {

using namespace std::chrono_literals;
using simnet::fault_kind;
using std::chrono::microseconds;

deed& oddity_writer::add(microseconds at, deed_kind kind, size_t number) {
  auto& out = out_.emplace_back();
  out.round = round_;
  out.at = begin_ + at;
  out.kind = kind;
  out.number = number;
  out.exact = true;
  return out;
}

/// Faults of the requests to all hosts.
deed& oddity_writer::add(microseconds at, fault_kind what, size_t number) {
  auto& out = add(at, deed_kind::fault, number);
  out.what = what;
  out.of = server::relay;
  return out;
}

void oddity_writer::add_writes(microseconds at, size_t number, size_t count,
                               microseconds lasting) {
  auto& x = add(at, deed_kind::writes, number);
  x.value = static_cast<int64_t>(count);
  x.lasting = lasting;
}

/// The change of an event that cannot be used is fetched, although no other
/// event of the account follows.
void oddity_writer::write_misfits() {
  constexpr std::array misfits{fault_kind::bad_shape, fault_kind::bad_shape,
                               fault_kind::bad_shape,
                               fault_kind::bad_signature,
                               fault_kind::bad_signature,
                               fault_kind::big_commit};
  for (const auto number : few_) {
    auto at = between(1ms, 20s, random_);
    for (auto left = random_.below(3); left > 0; --left) {
      add(at, pick(misfits), number);
      at += between(1ms, 2min, random_);
      if (one_in(2))
        add_writes(at, number, 1 + random_.below(3), 100ms);
      at += between(1ms, 10s, random_);
    }
    add(at, pick(misfits), number);
    if (one_in(4))
      add(at + between(1ms, 5s, random_), fault_kind::announce_state, number);
    else if (one_in(6))
      add(at + between(1ms, 5s, random_), fault_kind::rotate_key, number);
    else if (one_in(6))
      add(at + between(1ms, 5s, random_), deed_kind::kill, number);
  }
}

/// A host sends an account's state after commits that it announced, as after a
/// repair of its store, while they wait for a fetch: so many that they wait on
/// disk. One account, because a download this slow gives way to others.
void oddity_writer::write_states() {
  const auto number = few_[round_ % few_.size()];
  // The download has the repo's state at the time of the request.
  const auto is_late = !one_in(3);
  auto& slow = is_late
                 ? add(0us, fault_kind::slow_repo, 7 + random_.below(6))
                 : add(0us, fault_kind::trickle_repo, number);
  slow.value = static_cast<int64_t>(100 + random_.below(400));
  slow.lasting = between(20s, 2min, random_);
  add(between(10ms, 1s, random_), deed_kind::resync, number);
  const auto from = 2s + between(10ms, 1s, random_);
  const auto lasting = between(1s, is_late ? 5s : 12s, random_);
  const auto count = one_in(4) ? 1 + random_.below(200)
                               : 260 + random_.below(160);
  add_writes(from, number, count, lasting);
  for (auto left = 2 + random_.below(12); left > 0; --left)
    add(from + lasting * static_cast<int64_t>(random_.below(1'000)) / 1'000,
        fault_kind::announce_state, number);
  if (one_in(2))
    add(from + lasting + between(1ms, 1min, random_),
        fault_kind::announce_state, number);
}

/// While an account is known to be inactive, its records are not sent until it
/// is back, including those that were sent and not acked.
void oddity_writer::write_waits() {
  const auto is_there = one_in(3);
  const auto from = between(1ms, 5s, random_);
  auto& gap = add(from, is_there ? deed_kind::forget : deed_kind::leave, 0);
  gap.lasting = between(30s, 5min, random_);
  // Every second or third ack is left out.
  gap.number = is_there ? random_.below(3) : 0;
  const auto back = from + gap.lasting;
  for (const auto number : few_)
    if (number == few_[0] || one_in(2))
      write_wait(from, number, back);
  if (one_in(4))
    add(from + between(1s, 10min, random_), deed_kind::kill, 0);
  // Nothing happens, so that the events that came can be checked.
  for (auto at = from; at < back + 3min; at += between(3s, 40s, random_))
    add(at, deed_kind::writes, few_[0] + 1).value = 1;
}

void oddity_writer::write_wait(microseconds from, size_t number,
                               microseconds back) {
  constexpr std::array leaves{fault_kind::deactivate, fault_kind::take_down,
                              fault_kind::suspend};
  auto at = from + between(1ms, 5s, random_);
  for (auto left = 1 + random_.below(3); left > 0; --left) {
    add_writes(at, number, 1 + random_.below(8), between(1ms, 2s, random_));
    at += between(100ms, 5s, random_);
    const auto how = pick(leaves);
    add(at, how, number);
    at += one_in(3) ? between(1ms, 20s, random_)
                    : back - from + between(1s, 2min, random_);
    if (left == 1 && one_in(3))
      return;
    add(at, how == fault_kind::deactivate ? fault_kind::reactivate
                                          : fault_kind::restore, number);
    at += between(1ms, 10s, random_);
  }
  if (one_in(2))
    add_writes(at, number, 1 + random_.below(5), 1s);
}

/// A host serves an old copy of a repo, while its streams are up to date.
void oddity_writer::write_lags() {
  constexpr std::array reasons{fault_kind::broken_chain,
                               fault_kind::wrong_prev_data,
                               fault_kind::rotate_key,
                               fault_kind::big_commit};
  const auto lasting = between(30s, 10min, random_);
  add(0us, fault_kind::stale_repo, few_[0]).lasting = lasting;
  for (const auto number : few_) {
    auto at = between(10ms, 10s, random_);
    for (auto left = 1 + random_.below(3); left > 0; --left) {
      if (!one_in(4))
        add_writes(at, number, 1 + random_.below(5), between(1ms, 1s, random_));
      at += between(100ms, 20s, random_);
      if (one_in(3))
        add(at, pick(reasons), number);
      else
        add(at, deed_kind::resync, number);
      at += between(1s, 1min, random_);
    }
  }
}

/// No later event names what was lost or came as malformed bytes. Only one of
/// both kinds occurs in a run, because after either a node compares everything.
void oddity_writer::write_holes() {
  const auto kind = few_[0] % 2 == 0 ? fault_kind::garble_events
                                     : fault_kind::lose_window;
  auto at = between(1ms, 20s, random_);
  for (auto left = 1 + random_.below(3); left > 0; --left) {
    auto& lost = add(at, kind, pick(few_));
    if (settings_.follows != following::relay)
      lost.of = server::host;
    if (one_in(4))
      add(at + between(1ms, 1s, random_), deed_kind::kill, 0);
    at += between(100ms, 2min, random_);
  }
}

/// Deeds happen only while a stream is disconnected that has no position yet
/// and so cannot be asked for what it missed.
void oddity_writer::write_quiet() {
  auto at = between(1s, 5min, random_);
  for (auto left = 1 + random_.below(2); left > 0; --left) {
    const auto number = few_[left % few_.size()];
    auto& away = add(at, one_in(3) ? deed_kind::restart : deed_kind::refuse,
                     number);
    away.lasting = between(5s, 5min, random_);
    if (settings_.follows == following::relay)
      away.of = server::relay;
    add_writes(at + away.lasting / 2, number, 1 + random_.below(3), 1s);
    at += away.lasting + between(10s, 5min, random_);
  }
}

/// During its fetch an account writes more than one write to the disk takes,
/// and the node dies at about the end of the download. No later event names the
/// account.
void oddity_writer::write_drains() {
  const auto number = few_[round_ % few_.size()];
  auto& slow = add(0us, fault_kind::slow_repo, 5 + random_.below(4));
  slow.lasting = 5s;
  const auto waits = std::chrono::seconds{1 + slow.number};
  const auto asked = between(10ms, 300ms, random_);
  add(asked, deed_kind::resync, number);
  // The first few are kept in memory, more of them on disk.
  const auto count = one_in(2) ? 80 + random_.below(170)
                               : 260 + random_.below(160);
  add_writes(2s, number, count, between(500ms, 2s, random_));
  // Some round trips.
  const auto over = asked + waits + 4 * settings_.latency;
  auto& end = add(over + between(1ms, 200ms, random_),
                  one_in(4) ? deed_kind::power : deed_kind::kill_in_write, 0);
  end.value = 1 + static_cast<int64_t>(random_.below(20));
  end.lasting = 10s;
}

/// A stream that is slower than its accounts' writes brings events that are
/// minutes old, and listings show what it has not brought yet.
void oddity_writer::write_backlogs() {
  auto& slow = add(0us, fault_kind::throttle_stream, few_[0]);
  if (settings_.follows != following::relay)
    slow.of = server::host;
  slow.value = static_cast<int64_t>(4'000 + random_.below(16'000));
  slow.lasting = 10min;
  for (auto left = 2 + random_.below(3); left > 0; --left)
    add_writes(between(1s, 4min, random_), pick(few_),
               150 + random_.below(250), between(1ms, 1min, random_));
}

/// Adds a fault of the only stream.
deed& oddity_writer::add_to_stream(microseconds at, fault_kind what) {
  auto& out = add(at, what, 0);
  if (settings_.follows != following::relay)
    out.of = server::host;
  return out;
}

/// One event takes seconds, and more are made during that time than come. So a
/// pause means nothing, and a copy is complete only up to then.
void oddity_writer::write_behind() {
  add_to_stream(0us, fault_kind::throttle_stream).value
    = static_cast<int64_t>(100 + random_.below(250));
  out_.back().lasting = settings_.span;
  for (auto at = microseconds{1min}; at < settings_.span; at += 30s)
    add_writes(at, one_in(2) ? pick(few_) : random_.below(64),
               5 + random_.below(20), 30s);
}

/// A server loses its store, twice. While identities cannot be looked up, their
/// accounts take the room of others, whose events wait. Those that follow with
/// the same seqs wait as well.
void oddity_writer::write_numbers() {
  add_to_stream(0us, fault_kind::restart_sequence);
  auto at = renumbered_in + between(1ms, 1min, random_);
  add(at, fault_kind::directory_hang, 0).lasting = between(30s, 1min, random_);
  const auto keepers = 5 + random_.below(2);
  const auto keep_room = [&](size_t first_of_all) {
    for (size_t i = 0; i < keepers; ++i)
      add(at + within(200ms, random_), fault_kind::change_handle, first_of_all + i);
    at += 500ms;
  };
  keep_room(few_[0]);
  for (auto left = 1 + random_.below(6); left > 0; --left)
    add_writes(at + within(500ms, random_), few_[0] + 6 + random_.below(6), 1, 1ms);
  at += 1s;
  add_to_stream(at, fault_kind::restart_sequence);
  at += renumbered_in / 2;
  keep_room(few_[0] + 12);
  add(at, deed_kind::all_write, 0);
  // By then the first events were requested in vain.
  add(at + between(3s, 15s, random_), deed_kind::kill, 0);
}

/// A stopped node gets what it missed in the original order, so an account that
/// wrote last comes last. Its rev shows nothing more, even one in the future.
void oddity_writer::write_replays() {
  const auto number = few_[0];
  auto& away = add(0us, deed_kind::restart, 0);
  const auto lasting = away.lasting = between(12min, 20min, random_);
  add_writes(1s, number, 100 + random_.below(100), 1min);
  for (auto left = 2 + random_.below(6); left > 0; --left)
    add(1s + within(50s, random_), fault_kind::early_commit, number);
  add_writes(70s, number + 1, 1, 1s);
  add_writes(70s, number + 2, 2, 1s);
  // Nothing happens, so that the claims of completeness can be checked.
  for (auto at = lasting; at < lasting + 40s; at += between(200ms, 2s, random_))
    add(at, deed_kind::writes, number + 3).value = 1;
}

/// The application has not read some records when their repo is removed, and
/// reconnects while they are erased and still on the disk.
void oddity_writer::write_erasures() {
  const auto number = few_[0];
  auto& away = add(0us, deed_kind::leave, 0);
  const auto back = away.lasting = between(20s, 1min, random_);
  add_writes(1s, number, 5 + random_.below(60), between(1ms, 5s, random_));
  // The removal takes a sync or two.
  const auto removed = back - between(1ms, 4 * settings_.speed.sync, random_);
  add(removed, deed_kind::remove, number);
  add_writes(back + between(1s, 20s, random_), number + 1, 1, 1ms);
  if (one_in(2))
    add(back + between(10s, 1min, random_), deed_kind::add, number);
}

/// Hosts that are reachable and serve nothing, for seconds or hours, while
/// their accounts change, repos are requested and streams connect again.
void oddity_writer::write_ailing() {
  constexpr std::array happenings{
    fault_kind::broken_chain, fault_kind::rotate_key, fault_kind::deactivate,
    fault_kind::reactivate,   fault_kind::migrate,    fault_kind::big_commit,
    fault_kind::change_handle};
  for (const auto number : few_) {
    const auto from = within(5s, random_);
    auto& ill = add(from, one_in(2) ? fault_kind::host_down
                                    : fault_kind::host_hang, number);
    ill.of = server::host;
    const auto lasting = ill.lasting
      = one_in(2) ? between(1s, 1min, random_) : between(1min, 2h, random_);
    for (auto left = 1 + random_.below(6); left > 0; --left) {
      const auto at = from + within(lasting, random_);
      if (one_in(4))
        add(at, one_in(2) ? deed_kind::cut : deed_kind::kill, number);
      else if (one_in(4))
        add(at, deed_kind::resync, number);
      else
        add(at, pick(happenings), number);
      add_writes(at + between(1ms, 2s, random_), number, 1 + random_.below(4), 1s);
    }
  }
}

void oddity_writer::write() {
  const auto first_deed = static_cast<std::ptrdiff_t>(out_.size());
  if (round_ == 0 && settings_.about != plot::quiet) {
    // By then each stream has a position, and each copy is proved.
    add(1s - begin_, deed_kind::life, 0).value = 40;
    add(begins_after / 2 - begin_, deed_kind::all_write, 0);
  }
  constexpr std::array<void (oddity_writer::*)(), plots - first_oddity> writers{
    &oddity_writer::write_misfits, &oddity_writer::write_states,
    &oddity_writer::write_waits,   &oddity_writer::write_lags,
    &oddity_writer::write_holes,   &oddity_writer::write_quiet,
    &oddity_writer::write_drains,  &oddity_writer::write_backlogs,
    &oddity_writer::write_numbers, &oddity_writer::write_replays,
    &oddity_writer::write_erasures, &oddity_writer::write_ailing,
    &oddity_writer::write_behind};
  (this->*writers[static_cast<size_t>(settings_.about) - first_oddity])();
  std::stable_sort(out_.begin() + first_deed, out_.end(),
                   [](const deed& a, const deed& b) { return a.at < b.at; });
}

} // namespace weir::sim

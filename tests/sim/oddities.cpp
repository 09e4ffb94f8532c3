#include "tests/sim/oddities.hpp"

#include "tests/sim/plots.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using simnet::fault_kind;
using std::chrono::microseconds;

/// Each place below has one run of so many.
constexpr uint64_t one_run_in = 30;

/// States have two of them: few of their runs have hosts that answer in time.
constexpr std::array drawn{plot::misfits, plot::states, plot::waits,
                           plot::lags,    plot::holes,  plot::quiet,
                           plot::states,  plot::drains, plot::backlogs};

/// Nodes list what a stream tells of when it begins.
constexpr microseconds begins_after = 10min;

/// As likely short as long by their magnitude.
microseconds between(microseconds least, microseconds most,
                     random_source& random) {
  const auto from = std::log(double(least.count()));
  const auto to = std::log(double(most.count()));
  return microseconds{
    static_cast<int64_t>(std::exp(from + random.unit() * (to - from)))};
}

/// Puts deeds into one round, all of them at two accounts.
class oddity_writer {
public:
  oddity_writer(const run_settings& settings, size_t round,
                random_source& random, std::vector<deed>& out)
    : settings_(settings), random_(random), out_(out), round_(round),
      begin_(round == 0 ? begins_after : 0s) {
    // The same ones in each round.
    const auto own = seeded_random(settings.seed ^ 0xd6e8feb86659fd93u);
    for (auto& x : few_)
      x = own->below(64);
  }

  void write();

private:
  void write_misfits();
  void write_states();
  void write_waits();
  void write_wait(microseconds from, size_t number, microseconds back);
  void write_lags();
  void write_holes();
  void write_quiet();
  void write_drains();
  void write_backlogs();

  deed& add(microseconds at, deed_kind kind, size_t number);
  deed& add(microseconds at, fault_kind what, size_t number);
  void add_writes(microseconds at, size_t number, size_t count,
                  microseconds lasting);

  bool one_in(uint64_t x) { return random_.below(x) == 0; }

  template <class T, size_t N>
  T pick(const std::array<T, N>& all) {
    return all[random_.below(N)];
  }

  const run_settings& settings_;
  random_source& random_;
  std::vector<deed>& out_;
  const size_t round_;
  const microseconds begin_;
  std::array<size_t, 2> few_{};
};

deed& oddity_writer::add(microseconds at, deed_kind kind, size_t number) {
  auto& out = out_.emplace_back();
  out.round = round_;
  out.at = begin_ + at;
  out.kind = kind;
  out.number = number;
  out.exact = true;
  return out;
}

/// Requests of all hosts.
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

/// What an event that cannot be used meant is fetched, though nothing of the
/// account comes after it.
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

/// A host says what its account is after commits that it announced, as after a
/// repair of its store, while those wait for a fetch: so many that they wait on
/// disk. One account, since a download this slow gives way to others.
void oddity_writer::write_states() {
  const auto number = few_[round_ % few_.size()];
  // The repository is that of the moment when it was asked for.
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

/// Whoever knows that an account is away keeps its records to himself until it
/// is back, also those that were sent and not acked.
void oddity_writer::write_waits() {
  const auto is_there = one_in(3);
  const auto from = between(1ms, 5s, random_);
  auto& gap = add(from, is_there ? deed_kind::forget : deed_kind::leave, 0);
  gap.lasting = between(30s, 5min, random_);
  // Every second or third ack.
  gap.number = is_there ? random_.below(3) : 0;
  const auto back = from + gap.lasting;
  for (const auto number : few_)
    if (number == few_[0] || one_in(2))
      write_wait(from, number, back);
  if (one_in(4))
    add(from + between(1s, 10min, random_), deed_kind::kill, 0);
  // Nothing happens, and it is looked at what came.
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

/// A copy of a host that answers for it, and is behind it. Its streams are not.
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

/// Nobody speaks of what was lost any more.
void oddity_writer::write_holes() {
  auto at = between(1ms, 20s, random_);
  for (auto left = 1 + random_.below(3); left > 0; --left) {
    auto& lost = add(at, fault_kind::lose_window, pick(few_));
    if (settings_.follows != following::relay)
      lost.of = server::host;
    if (one_in(4))
      add(at + between(1ms, 1s, random_), deed_kind::kill, 0);
    at += between(100ms, 2min, random_);
  }
}

/// Nothing happens but while a stream is away, which cannot be asked for what it
/// missed: it has no position yet.
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

/// What an account writes while it is fetched is more than one write to the disk
/// takes, and the node dies about when the download is over. Nobody speaks of the
/// account any more.
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
  // Some turns of the road, to and fro.
  const auto over = asked + waits + 4 * settings_.latency;
  auto& end = add(over + between(1ms, 200ms, random_),
                  one_in(4) ? deed_kind::power : deed_kind::kill_in_write, 0);
  end.value = 1 + static_cast<int64_t>(random_.below(20));
  end.lasting = 10s;
}

/// A stream that serves more slowly than its accounts write brings what is
/// minutes old, and listings show what it has not brought yet. Its largest event
/// takes less than `passed_quiet_min`, or it would look quiet.
void oddity_writer::write_backlogs() {
  auto& slow = add(0us, fault_kind::throttle_stream, few_[0]);
  if (settings_.follows != following::relay)
    slow.of = server::host;
  slow.value = static_cast<int64_t>(16'000 + random_.below(4'000));
  slow.lasting = 10min;
  for (auto left = 2 + random_.below(3); left > 0; --left)
    add_writes(between(1s, 4min, random_), pick(few_),
               150 + random_.below(250), between(1ms, 1min, random_));
}

void oddity_writer::write() {
  const auto first_deed = static_cast<std::ptrdiff_t>(out_.size());
  if (round_ == 0 && settings_.about != plot::quiet) { // Each stream has a position, and each copy is proved.
    add(1s - begin_, deed_kind::life, 0).value = 40;
    add(begins_after / 2 - begin_, deed_kind::all_write, 0);
  }
  switch (settings_.about) {
    case plot::misfits:
      write_misfits();
      break;
    case plot::states:
      write_states();
      break;
    case plot::waits:
      write_waits();
      break;
    case plot::holes:
      write_holes();
      break;
    case plot::quiet:
      write_quiet();
      break;
    case plot::drains:
      write_drains();
      break;
    case plot::backlogs:
      write_backlogs();
      break;
    default:
      write_lags();
      break;
  }
  std::stable_sort(out_.begin() + first_deed, out_.end(),
                   [](const deed& a, const deed& b) { return a.at < b.at; });
}

/// They come every minute or two, and what they show may be on its way.
void draw_listings(run_settings& out, random_source& random) {
  out.sound = out.audited = true;
  out.rate = 0; // Only what is served slowly comes slowly.
  out.node.listing_interval = std::chrono::minutes{1 + random.below(2)};
  out.node.listing_requests_per_hour = 10'000;
  out.node.listing_grace = std::chrono::seconds{10 + random.below(50)};
}

} // namespace

bool is_oddity(plot x) noexcept {
  return x >= plot::misfits;
}

void draw_oddity(run_settings& out) {
  const auto random = seeded_random(out.seed ^ 0xa0761d6478bd642fu);
  const auto which = random->below(one_run_in);
  if (which >= drawn.size() || out.subject != theme::none
      || out.about != plot::none)
    return;
  out.about = drawn[which];
  leave_alone(out);
  out.rounds = 1 + random->below(3);
  if (out.about == plot::states) {
    out.sound = true;
    out.world.window = {};
    out.world.population.accounts
      = std::min<size_t>(out.world.population.accounts, 12);
  }
  if (out.about == plot::backlogs)
    draw_listings(out, *random);
  if ((out.about == plot::holes || out.about == plot::quiet)
      && out.follows == following::both)
    out.follows = following::hosts; // Nobody else brings it.
  if (out.about == plot::waits || out.about == plot::lags
      || out.about == plot::drains)
    out.ends_in_peace = true;
}

void draw_oddity_round(const run_settings& settings, size_t round,
                       random_source& random, std::vector<deed>& out) {
  oddity_writer{settings, round, random, out}.write();
}

} // namespace weir::sim

#include "tests/sim/plots.hpp"

#include "actors/identity/limits.hpp"
#include "actors/supervisor/limits.hpp"
#include "tests/sim/moments.hpp"

#include <algorithm>
#include <array>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using simnet::fault_kind;
using std::chrono::microseconds;

/// Each plot gets one run in this number.
constexpr uint64_t one_run_in = 30;

constexpr std::array<const char*, plots> names{
  "nothing",  "outages",  "flaps",   "clients", "errors", "words", "clocks",
  "relapses", "absences", "misfits", "states",  "waits",  "lags",   "holes",
  "quiet",    "drains",   "backlogs", "numbers", "replays",
  "erasures", "ailing",   "behind"};

/// Later plots are oddities.
constexpr size_t drawn_here = static_cast<size_t>(plot::misfits);

/// Adds deeds to one round, most of them about one of two accounts.
class round_writer {
public:
  round_writer(const run_settings& settings, size_t round,
               random_source& random, std::vector<deed>& out)
    : settings_(settings), random_(random), out_(out), round_(round) {
    // They are the same in each round.
    const auto own = seeded_random(settings.seed ^ 0x2545f4914f6cdd1du);
    for (auto& x : few_)
      x = own->below(64);
  }

  void write();

private:
  void write_outage();
  void write_flap();
  void write_clients();
  void write_errors();
  void write_words();
  void write_clock();
  void write_relapse();
  void write_absence();
  void begin_late(std::ptrdiff_t first);
  deed& add(microseconds at, deed_kind kind);
  deed& add(microseconds at, fault_kind what);
  void add_writes(microseconds at, size_t number);

  size_t account() { return few_[random_.below(few_.size())]; }

  template <class T, size_t N>
  T pick(const std::array<T, N>& all) {
    return all[random_.below(N)];
  }

  const run_settings& settings_;
  random_source& random_;
  std::vector<deed>& out_;
  size_t round_;
  std::array<size_t, 2> few_{};
};

deed& round_writer::add(microseconds at, deed_kind kind) {
  auto& out = out_.emplace_back();
  out.round = round_;
  out.at = at;
  out.kind = kind;
  out.number = account();
  out.exact = true;
  return out;
}

/// Faults of the requests to all servers, or of one of the two accounts.
deed& round_writer::add(microseconds at, fault_kind what) {
  auto& out = add(at, deed_kind::fault);
  out.what = what;
  out.of = server::relay;
  return out;
}

void round_writer::add_writes(microseconds at, size_t number) {
  auto& x = add(at, deed_kind::writes);
  x.number = number;
  x.value = pick(std::array<int64_t, 4>{1, 1, 2, 5});
  x.lasting = between(1ms, 2s, random_);
}

/// Changes during the outage are known when the directory is back, although no
/// later event names them.
void round_writer::write_outage() {
  constexpr std::array outages{
    fault_kind::directory_down,   fault_kind::directory_down,
    fault_kind::directory_limit,  fault_kind::directory_slow,
    fault_kind::directory_hang,   fault_kind::directory_refuse,
    fault_kind::directory_forget, fault_kind::directory_stale};
  constexpr std::array changes{
    fault_kind::rotate_key, fault_kind::rotate_key, fault_kind::rotate_key,
    fault_kind::change_handle, fault_kind::change_handle, fault_kind::migrate};
  const auto away = between(20s, 20min, random_);
  add(0us, pick(outages)).lasting = away;
  for (auto left = 1 + random_.below(5); left > 0; --left) {
    const auto at = random_.below(2) == 0 ? within(away, random_)
                                          : between(1ms, 10s, random_);
    const auto number = add(at, pick(changes)).number;
    if (random_.below(3) != 0)
      add_writes(at + between(1ms, 20s, random_), number);
  }
  if (random_.below(4) == 0)
    add(within(away, random_), deed_kind::kill);
}

void round_writer::write_flap() {
  for (auto left = random_.below(4); left > 0; --left)
    add_writes(between(1ms, 20s, random_), account());
  auto& x = add(between(1s, 20s, random_), deed_kind::flap);
  x.of = settings_.follows == following::relay ? server::relay : server::host;
  x.value = (6 * settings_.latency + between(300ms, 5s, random_)) / 1ms;
  x.lasting = between(4min, 25min, random_);
}

/// Look-ups of names that do not exist, with and without a directory, and
/// bodies that are declared and do not come.
void round_writer::write_clients() {
  const auto a_second = static_cast<int64_t>(settings_.node.plc_per_second);
  const auto forgets
    = settings_.node.most.failures < limits::lookup_failures_max;
  auto& asked = add(between(1s, 20s, random_), deed_kind::names);
  asked.value = forgets ? a_second / 4
                        : a_second * static_cast<int64_t>(1 + random_.below(2));
  const auto lasting = asked.lasting = between(20s, 45s, random_);
  if (forgets || random_.below(3) == 0)
    add(0us, fault_kind::directory_down).lasting = lasting + 30s;
  add(between(1s, 1min, random_), deed_kind::bodies).value
    = 10 + static_cast<int64_t>(random_.below(20));
}

/// All faults end within the grace.
void round_writer::write_errors() {
  constexpr std::array errors{
    fault_kind::missing_repo,   fault_kind::missing_repo,
    fault_kind::directory_gone, fault_kind::directory_gone,
    fault_kind::directory_gone, fault_kind::directory_forget,
    fault_kind::false_status};
  constexpr std::array reasons{
    fault_kind::rotate_key, fault_kind::change_handle,
    fault_kind::wrong_prev_data, fault_kind::broken_chain};
  const microseconds grace = settings_.node.gone_grace;
  const auto last = grace * 4 / 5;
  for (auto left = 1 + random_.below(3); left > 0; --left) {
    // Only a listing finds accounts that a directory never knew.
    const auto at = 1min + within(last / 3, random_);
    add(at, pick(errors)).lasting = between(5s, last / 2, random_);
    // When an identity was read a moment ago, its host is asked at once.
    for (auto more = 1 + random_.below(3); more > 0; --more) {
      const auto cause = at + between(1ms, 1min, random_);
      const auto number = add(cause, pick(reasons)).number;
      if (random_.below(3) != 0)
        add(cause + between(1ms, 40s, random_), deed_kind::resync).number
          = number;
    }
  }
}

/// Each account goes and comes back, at its host and at the relay, in any
/// order.
void round_writer::write_words() {
  constexpr std::array leaves{fault_kind::deactivate, fault_kind::take_down,
                              fault_kind::suspend};
  // A change that does not fit the account's state has no effect.
  constexpr std::array back{fault_kind::reactivate, fault_kind::restore};
  microseconds at{0};
  const auto soon = [&] { return at += between(1ms, 20s, random_); };
  for (auto left = 3 + random_.below(6); left > 0; --left) {
    const auto number = account();
    const auto how = random_.below(5);
    if (how < 3)
      add(soon(), how < 2 ? fault_kind::relay_take_down
                          : fault_kind::relay_restore).number = number;
    else
      add(soon(), pick(leaves)).number = number;
    if (random_.below(3) == 0)
      add_writes(soon(), number);
    for (const auto what : back)
      if (random_.below(3) != 0)
        add(soon(), what).number = number;
  }
  if (random_.below(2) != 0)
    return;
  // A relay that took an account down sends no event about it any more.
  const auto number = account();
  add(soon(), fault_kind::relay_restore).number = number;
  add(soon(), fault_kind::remove).number = number;
}

/// A clock that is behind makes new revs lie in the future; a clock that is
/// ahead gives retries wrong times.
void round_writer::write_clock() {
  constexpr std::array<int64_t, 4> wrong_by{400, 3'600, 86'400, 40'000'000};
  const auto lasting = between(20s, 10min, random_);
  const auto is_behind = random_.below(2) == 0;
  auto& x = add(between(1ms, 10s, random_), deed_kind::clock);
  x.value = is_behind ? -pick(wrong_by) : pick(wrong_by);
  x.lasting = lasting;
  const auto at = x.at;
  if (!is_behind)
    add(at, fault_kind::failing_repo).lasting = lasting - 5s;
  for (auto left = 1 + random_.below(4); left > 0; --left) {
    const auto then = at + within(lasting * 3 / 4, random_);
    if (is_behind)
      add_writes(then, account());
    else if (random_.below(2) == 0)
      add(then, deed_kind::resync);
    else
      add(then, fault_kind::broken_chain);
  }
  if (!is_behind || random_.below(3) == 0)
    add(at + lasting + between(100ms, 20s, random_), deed_kind::kill);
}

/// The first failure lasts for hours, later ones for a moment.
void round_writer::write_relapse() {
  const auto lasting = round_ == 0 ? between(2h, 8h, random_)
                                   : between(15s, 90s, random_);
  add(0us, fault_kind::failing_repo).lasting = lasting;
  for (const auto number : few_) {
    const auto at = between(1ms, 10s, random_);
    if (random_.below(2) == 0)
      add(at, deed_kind::resync).number = number;
    else
      add(at, fault_kind::broken_chain).number = number;
  }
}

/// A listing finds these changes, or the accounts' next events. A relay's
/// takedown is its own decision, which no other server reports.
void round_writer::write_absence() {
  constexpr std::array leaves{fault_kind::deactivate, fault_kind::take_down,
                              fault_kind::suspend, fault_kind::remove,
                              fault_kind::remove};
  const size_t kinds = settings_.audited                     ? leaves.size()
                       : settings_.follows == following::hosts ? 3
                                                               : 1;
  for (const auto number : few_) {
    auto at = between(1ms, 1min, random_);
    const auto gone = leaves[random_.below(kinds)];
    auto& first = add(at, gone);
    first.number = number;
    first.silent = settings_.audited && random_.below(3) != 0;
    if (settings_.audited && random_.below(2) == 0)
      continue;
    auto& second = add(at += between(1s, 10min, random_),
                       gone == fault_kind::deactivate
                         ? fault_kind::reactivate
                         : fault_kind::restore);
    second.number = number;
    second.silent = true;
    add_writes(at + between(100ms, 1min, random_), number);
  }
}

/// Before the plot begins, each stream has a position, the listings that follow
/// are over, and an event of each account has proved its copy.
void round_writer::begin_late(std::ptrdiff_t first) {
  for (auto i = out_.begin() + first; i != out_.end(); ++i)
    i->at += begins_after;
  add(1s, deed_kind::life).value = 40;
  add(begins_after / 2, deed_kind::all_write);
}

void round_writer::write() {
  const auto first = static_cast<std::ptrdiff_t>(out_.size());
  constexpr std::array<void (round_writer::*)(), drawn_here> writers{
    nullptr,
    &round_writer::write_outage,
    &round_writer::write_flap,
    &round_writer::write_clients,
    &round_writer::write_errors,
    &round_writer::write_words,
    &round_writer::write_clock,
    &round_writer::write_relapse,
    &round_writer::write_absence};
  (this->*writers[static_cast<size_t>(settings_.about)])();
  if (round_ == 0)
    begin_late(first);
  std::stable_sort(out_.begin() + first, out_.end(),
                   [](const deed& a, const deed& b) { return a.at < b.at; });
}

void draw_client_budget(run_settings& out, random_source& random) {
  constexpr std::array budgets{8.0, 20.0, 20.0};
  out.node.plc_per_second = budgets[random.below(budgets.size())];
  // In half of the runs more look-ups fail than are remembered.
  if (random.below(2) != 0)
    return;
  out.node.plc_per_second = 100;
  out.node.most.failures = 16 + random.below(48);
  out.rounds = 1;
}

} // namespace

const char* to_string(plot x) noexcept {
  return names[static_cast<size_t>(x)];
}

void leave_alone(run_settings& out) {
  out.world.hostile.clear();
  out.enemy_rate = 0;
  auto& people = out.world.population;
  people.accounts = std::min<size_t>(people.accounts, 40);
  people.records = std::min(people.records, people.accounts * 12);
  people.deactivated = 0;
  out.weighs_fairness = out.weighs_sharing = out.weighs_commits = false;
  out.enemies_fail = false;
  out.node.most = {};
  out.world.window = {};
  out.world.listing_lines_max = limits::listing_page_asked;
  out.lives_on = out.sound = false;
  out.node.consumer_disable_acks = false;
  out.audited = false;
  out.node.listing_interval = out.node.completeness_interval = 720h;
  out.settle_max = out.settle_again_max = 90min;
  out.speed.grain = 1s;
}

void draw_plot(run_settings& out) {
  const auto random = seeded_random(out.seed ^ 0x9e6c63d0876a9a47u);
  const auto which = 1 + random->below(one_run_in);
  if (which >= drawn_here || out.subject != theme::none)
    return;
  out.about = static_cast<plot>(which);
  leave_alone(out);
  out.rounds = 1 + random->below(3);
  constexpr std::array<std::chrono::seconds, 3> graces{5min, 30min, 2h};
  switch (out.about) {
    case plot::clients:
      return draw_client_budget(out, *random);
    case plot::errors:
      out.node.gone_grace = graces[random->below(graces.size())];
      out.rounds = 1;
      return;
    case plot::words:
      if (out.follows == following::hosts)
        out.follows = following::both;
      return;
    case plot::relapses:
      out.rounds = 2;
      out.ends_in_peace = true;
      out.speed.grain = 10s;
      out.settle_again_max = 20min;
      return;
    case plot::absences:
      out.audited = random->below(2) == 0;
      if (!out.audited)
        return;
      out.rounds = 1;
      out.node.listing_interval = 1h;
      out.settle_max = 30h;
      return;
    default:
      return;
  }
}

void draw_plot_round(const run_settings& settings, size_t round,
                      random_source& random, std::vector<deed>& out) {
  round_writer{settings, round, random, out}.write();
}

} // namespace weir::sim

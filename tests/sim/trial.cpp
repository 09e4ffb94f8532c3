#include "tests/sim/trial.hpp"

#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "tests/sim/away.hpp"
#include "tests/sim/broken.hpp"
#include "tests/sim/buffering.hpp"
#include "tests/sim/comparison.hpp"
#include "tests/sim/enemies.hpp"
#include "tests/sim/fairness.hpp"
#include "tests/sim/heap_bounds.hpp"
#include "tests/sim/kept.hpp"
#include "tests/sim/node_bounds.hpp"
#include "tests/sim/occurrences.hpp"
#include "tests/sim/performer.hpp"
#include "tests/sim/remains.hpp"
#include "tests/sim/scope.hpp"
#include "tests/sim/sharing.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

/// After this time streams have brought everything, so every copy that is
/// reported complete must be so.
constexpr microseconds claims_checked_after = 3min;
/// How far streams may be behind then, and at any time. A stream that is
/// further behind than `stream_lag_max` proves nothing, once that is known.
constexpr microseconds behind_in_peace = 2min;
constexpr microseconds behind_at_most = limits::stream_lag_max + 5min;
/// After the last fault, bytes that came must be read within this time, or the
/// stream would soon be replaced as stalled. A small window, a slow disk or the
/// rate of a host may let them wait that long.
constexpr microseconds read_within = 45s;
/// Claims are checked in rounds that last longer than this.
constexpr microseconds claims_looked_at_in = 10min;

/// How long accounts continue to write after the last fault, where they do.
constexpr std::chrono::seconds traffic_lasts = 3min;

class trial {
public:
  trial(scene& x, const heap_watch& heap, std::vector<deed> deeds)
    : scene_(x), heap_(heap), performer_(x),
      kept_(x.settings().node.gone_grace), deeds_(std::move(deeds)) {
    // nop
  }

  void run();

  std::chrono::seconds settled_after() const { return settled_after_; }

  const performer& what_was_done() const noexcept { return performer_; }

  size_t not_tracked() const noexcept { return not_tracked_; }

private:
  void find_positions();
  void run_round(size_t round);
  void check_progress();
  void check_events();
  void judge_claims(const std::vector<simnet::expected_account>& truth,
                    const node_repos& repos);
  void look_at_claims();
  std::string difference();
  void live_on();
  void settle(microseconds most);
  void rest();

  scene& scene_;
  const heap_watch& heap_;
  performer performer_;
  kept_watch kept_;
  away_watch away_;
  std::vector<deed> deeds_;
  std::optional<bound_watch> bounds_;
  std::optional<steady_time> mended_at_; ///< No value while faults last.
  std::chrono::seconds settled_after_{0};
  size_t not_tracked_ = 0; ///< The value at the last check.
};

void trial::run() {
  if (auto ok = scene_.open(); !ok)
    throw broken{"start", to_string(ok.error())};
  if (auto ok = performer_.start(); !ok)
    throw broken{"start", to_string(ok.error())};
  if (scene_.settings().watches_bounds > 0s)
    bounds_.emplace(scene_, scene_.settings().watches_bounds);
  if (scene_.settings().sound)
    find_positions();
  for (size_t i = 0; i < scene_.settings().rounds; ++i)
    run_round(i);
  if (scene_.settings().rests)
    rest();
  check_remains(scene_, performer_);
}

/// A stream without any event has no position, and loses what comes while it is
/// disconnected. So every host sends an event.
void trial::find_positions() {
  performer_.run_for(1min);
  auto& life = scene_.life();
  std::set<size_t> hosts;
  for (size_t i = 0; i < life.truth().accounts(); ++i)
    if (hosts.insert(life.truth().view(i).host).second)
      life.truth().announce_identity(*life.truth().at(i), true);
  performer_.run_for(1min);
}

void trial::run_round(size_t round) {
  mended_at_.reset();
  performer_.begin_round();
  const auto begin = scene_.time().now();
  auto end = begin;
  for (const auto& x : deeds_) {
    if (x.round != round)
      continue;
    performer_.run_for(begin + x.at - scene_.time().now());
    performer_.perform(x);
    kept_.note(x, scene_.time().now());
    end = std::max(end, scene_.time().now() + x.lasting);
    check_events();
    if (scene_.settings().span > claims_looked_at_in)
      look_at_claims();
  }
  // Faults end by themselves, or all at once during the last one.
  if (scene_.settings().ends_in_peace)
    performer_.run_for(std::max(end - scene_.time().now(), 1us));
  check_events();
  performer_.mend();
  settle(round == 0 ? scene_.settings().settle_max
                    : scene_.settings().settle_again_max);
  if (scene_.settings().weighs_commits)
    if (const auto how = weigh_commits(scene_); !how.empty())
      throw broken{"memory", how};
}

/// A stream with nothing in its way is read at any time, and after the last
/// fault the node reads everything that its connections bring.
void trial::check_progress() {
  if (scene_.stalled_connections() > 0)
    throw broken{"progress", "a stream that nothing was in the way of was not "
                             "read"};
  if (!mended_at_ || !scene_.node_runs())
    return;
  const auto how = scene_.stuck_connection(*mended_at_, read_within);
  if (!how.empty())
    throw broken{"progress", how};
}

/// Checks that the events of the application are consistent.
void trial::check_events() {
  check_progress();
  auto past = past_a_bound(scene_);
  if (past.empty() && bounds_)
    past = bounds_->broken();
  if (!past.empty())
    throw broken{"memory", past};
  if (!performer_.manager().wrong_with_store().empty())
    throw broken{"positions", performer_.manager().wrong_with_store()};
  if (!scene_.waste().empty())
    throw broken{"thrift", scene_.waste()};
  if (!performer_.wrong_of_removed().empty())
    throw broken{"delivery", performer_.wrong_of_removed()};
  if (!performer_.wrong_for_clients().empty())
    throw broken{"fairness", performer_.wrong_for_clients()};
  if (const auto how = kept_.check(scene_); !how.empty())
    throw broken{"kept", how};
  if (const auto how = away_.check(scene_); !how.empty())
    throw broken{"delivery", how};
  scene_.application().read([](const apps::event_copy& copy) {
    const auto& x = copy.counts();
    if (x.conflicts > 0)
      throw broken{"ids", "an id has two contents"};
    if (x.out_of_order > 0)
      throw broken{"order", "events of one repo came in another order"};
    if (x.unreadable > 0)
      throw broken{"events", "an event cannot be read"};
  });
  if (scene_.delivered().while_away())
    throw broken{"delivery", "a record of an account that is away came"};
  if (!performer_.may().unacked && scene_.delivered().overtook())
    throw broken{"order", "a live record came before an earlier event of its "
                          "account was acked"};
}

/// Checks that every copy that is reported complete has been so, except for
/// events that streams may not have brought yet.
void trial::judge_claims(const std::vector<simnet::expected_account>& truth,
                         const node_repos& repos) {
  if (performer_.may().silent || performer_.may().misled)
    return;
  const auto now = scene_.time().now();
  const auto is_peace = mended_at_ && now - *mended_at_ >= claims_checked_after;
  if (!is_peace && performer_.may().late)
    return;
  const auto is_slow = scene_.settings().subject == theme::flood;
  const auto age = is_peace && !is_slow ? behind_in_peace : behind_at_most;
  const auto how
    = false_claim(truth, repos, scene_.true_clock().wall_now() + -age);
  if (!how.empty())
    throw broken{"complete", how};
}

/// Checks the claims while faults last.
void trial::look_at_claims() {
  if (!scene_.node_runs())
    return;
  if (const auto repos = scene_.repos()) {
    auto truth = scene_.expected();
    std::erase_if(truth, [this](const auto& x) {
      return is_of_enemy(scene_.life().truth(), x.account.id.str());
    });
    judge_claims(truth, *repos);
  }
}

/// The difference of node and application from the network; empty: none.
std::string trial::difference() {
  if (!scene_.node_runs())
    return "the node does not run";
  const auto repos = scene_.repos();
  if (!repos)
    return "the node does not list its repos: " + to_string(repos.error());
  auto truth = scene_.expected();
  auto may = performer_.may();
  // Records of inactive accounts wait until the accounts are back.
  const auto somebody_is_away
    = std::any_of(truth.begin(), truth.end(), [](const auto& x) {
        return x.account.status != simnet::standing::active
               || x.account.relay_takedown;
      });
  for (const auto& x : truth)
    if (is_of_enemy(scene_.life().truth(), x.account.id.str()))
      may.unjudged.insert(x.account.id.str());
  std::erase_if(truth, [&may](const auto& x) {
    return may.unjudged.contains(x.account.id.str());
  });
  not_tracked_ = leave_who_is_tracked(truth, *repos, scene_);
  judge_claims(truth, *repos);
  std::string out;
  scene_.application().read([&](const apps::event_copy& copy) {
    out = compare(truth, *repos, copy, may).text();
  });
  if (!out.empty() || performer_.may().unacked
      || somebody_is_away)
    return out;
  const auto outbox = scene_.get("/stats/outbox-buffer");
  if (!outbox || !outbox->second.starts_with(R"({"outbox_buffer":0,)"))
    return "events wait for the application: "
           + (outbox ? outbox->second : to_string(outbox.error()));
  return "";
}

/// Accounts continue to write, an event a second. Every copy that equals its
/// source must be reported complete meanwhile.
void trial::live_on() {
  auto& truth = scene_.life().truth();
  std::vector<int64_t> before;
  for (size_t i = 0; i < scene_.urls().hosts.size(); ++i)
    before.push_back(truth.host_log(i).newest());
  for (auto at = 1s; at <= traffic_lasts; at += 1s)
    scene_.time().set(scene_.time().now() + at,
                      [this] { scene_.life().traffic().make(1); });
  performer_.run_for(traffic_lasts + 500ms);
  const auto repos = scene_.node_runs() ? scene_.repos() : node_repos{};
  if (!repos)
    return;
  for (const auto& x : scene_.expected()) {
    const auto listed = repos->find(x.account.id.str());
    if (is_of_enemy(scene_.life().truth(), x.account.id.str()))
      continue;
    // Half of this number of frames say how far a stream is (`stream_quiet`).
    const auto events = truth.host_log(x.account.host).newest()
                        - before[x.account.host];
    if (events <= static_cast<int64_t>(limits::passed_frames / 2 + 1))
      continue;
    if (listed != repos->end() && listed->second.status == "synced"
        && listed->second.rev == x.account.rev.str()
        && listed->second.reason.find("has not sent yet") != std::string::npos)
      throw broken{"complete", x.account.id.str()
                                 + " is equal to its source, and not called "
                                   "complete beside traffic: " + listed->second.reason};
  }
}

/// Checks that everything is right within the time, and stays so.
void trial::settle(microseconds most) {
  // After a loss the hosts of repos that are behind are asked, once in this
  // interval.
  if (performer_.counts().contains("fault lose_window"))
    most = std::max<microseconds>(most, limits::account_question_interval + 2min);
  const auto begin = scene_.time().now();
  mended_at_ = begin;
  microseconds wait = 1s;
  auto settled = false;
  if (scene_.settings().lives_on)
    live_on();
  for (;;) {
    const auto how = difference();
    const auto passed = scene_.time().now() - begin;
    if (how.empty() && !settled) {
      settled = true;
      settled_after_ = std::max(
        {settled_after_, 1s,
         std::chrono::duration_cast<std::chrono::seconds>(passed)});
    }
    // It was long enough to check the claims.
    if (how.empty() && passed >= claims_checked_after)
      return;
    if (passed >= most)
      throw broken{"settles", how};
    performer_.run_for(wait);
    performer_.ask_refused();
    performer_.say_to_waiting();
    check_events();
    wait = std::min<microseconds>(wait * 2, 10min);
  }
}

/// Checks that a long silence changes nothing.
void trial::rest() {
  const auto grown = check_silence(
    heap_, scene_.settings().node,
    [this](microseconds x) { performer_.run_for(x); });
  if (!grown.empty())
    throw broken{"silence", grown};
  if (const auto how = difference(); !how.empty())
    throw broken{"settles", "after a silence: " + how};
}

} // namespace

verdict run_trial(uint64_t seed, const trial_options& options) {
  trace log{options.trace_out};
  verdict out;
  const heap_watch heap;
  scene x{seed, log, [&options](run_settings& settings) {
            settings.node.threads = options.threads;
          }};
  auto deeds = draw_deeds(x.settings());
  out.deeds = deeds.size();
  if (options.only) {
    std::vector<deed> kept;
    for (size_t i = 0; i < deeds.size(); ++i)
      if (options.only->contains(i))
        kept.push_back(deeds[i]);
    deeds = std::move(kept);
  }
  trial run{x, heap, std::move(deeds)};
  try {
    run.run();
    if (auto how = heap.check_bounds(x.settings().node); !how.empty())
      throw broken{"memory", how};
    if (x.settings().weighs_fairness)
      if (auto how = weigh_fairness(
            seed, x.settings().fairness_slack, log); !how.empty())
        throw broken{"fairness", how};
    if (x.settings().weighs_buffering)
      if (auto how = weigh_buffering(seed, log); !how.empty())
        throw broken{"buffering", how};
    if (x.settings().weighs_sharing)
      if (auto how = weigh_sharing(seed, log); !how.empty())
        throw broken{"fairness", how};
  } catch (const broken& why) {
    out.broken = why.what;
    out.how = why.how;
  } catch (const spins_forever& why) {
    out.broken = "progress";
    out.how = why.what();
  }
  out.counts = run.what_was_done().counts();
  count_met(x, run.what_was_done(), out.counts);
  for (const auto& [change, count] : x.status_changes())
    out.counts["status " + change] += count;
  count_settings(x.settings(), out.counts);
  count_scope(x.settings(), run.not_tracked(), out.counts);
  out.settled_after = run.settled_after();
  out.steps = x.steps().steps();
  out.trace_hash = log.hash();
  out.virtual_time
    = std::chrono::duration_cast<std::chrono::seconds>(
      x.time().now() - timeline::begin);
  return out;
}

} // namespace weir::sim

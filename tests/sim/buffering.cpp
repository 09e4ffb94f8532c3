#include "tests/sim/buffering.hpp"

#include "actors/repo/limits.hpp"
#include "storage/log/log_reader.hpp"
#include "tests/sim/broken.hpp"
#include "tests/sim/remains.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// By then all work of the start is done, and resyncs are requested.
constexpr auto resync_after = 10min;
/// All fetches have begun within this time.
constexpr auto begin_within = 1min;
constexpr auto look_interval = 100ms;
/// Downloads begin after this wait: short enough that no host counts as silent,
/// and long enough that all writes are over.
constexpr std::chrono::milliseconds download_waits{10'000};
/// By then the hosts have made their downloads, which contain the state of that
/// moment.
constexpr auto write_after = 1s;
/// By then everything is over.
constexpr auto look_after = resync_after + begin_within + 10min;

/// In half of the runs one account writes more than memory holds.
constexpr size_t writes_of_one = limits::repo_waiting_commits_max + 44;
constexpr uint64_t pause_of_one_ms = 20;
/// In the other runs two accounts write in turn.
constexpr size_t writers = 2;
constexpr size_t writes_of_some = 30;
constexpr uint64_t pause_of_some_ms = 300;

/// The operations of the writes in each repo's log, in order.
using history = std::map<std::string, std::vector<std::string>>;

/// The world of a seed, and the writes.
class buffering_run {
public:
  /// @param writes_at Time since the start; no value: when repos are being
  /// fetched.
  buffering_run(scene& x, std::optional<std::chrono::microseconds> writes_at)
    : scene_(x), writes_at_(writes_at), begin_(x.time().now()) {
    // nop
  }

  history run();

  std::chrono::microseconds wrote_at() const { return *writes_at_; }

private:
  void wait_until(std::chrono::microseconds passed);
  void choose_writers();
  void begin_fetches();
  bool all_are(const std::string& status);
  uint64_t buffered() const;
  size_t write();
  history read_log();
  static void read_log(const store_readers& store, storage::op_id after,
                       history& out);

  scene& scene_;
  std::optional<std::chrono::microseconds> writes_at_;
  const steady_time begin_;
  const bool one_writes_ = scene_.settings().seed % 2 == 0;
  std::vector<size_t> writers_;
  /// The last operations before the writes, by partition.
  std::vector<storage::op_id> before_;
};

void buffering_run::wait_until(std::chrono::microseconds passed) {
  scene_.steps().run_for(begin_ + passed - scene_.time().now());
}

void buffering_run::choose_writers() {
  const auto& truth = scene_.life().truth();
  const auto most
    = one_writes_ ? 1
                  : std::min(writers, scene_.settings().node.sync_parallelism);
  for (size_t i = 0; i < truth.accounts() && writers_.size() < most; ++i)
    if (truth.view(i).status == simnet::standing::active)
      writers_.push_back(i);
}

/// Number of frames so far that waited for a fetch.
uint64_t buffering_run::buffered() const {
  return scene_.metrics()
    .counter("weir_repo_events_total",
             "Events of streams, by what became of them", "result", "buffered")
    .value();
}

/// Begins the fetches; the downloads do not contain what is written from now
/// on.
void buffering_run::begin_fetches() {
  simnet::fault order;
  order.kind = simnet::fault_kind::slow_repo;
  order.count = 0;
  order.time = download_waits;
  static_cast<void>(scene_.life().faults().inject(order));
  boost::json::array dids;
  for (const auto i : writers_)
    dids.emplace_back(scene_.life().truth().view(i).id.str());
  const auto answer = scene_.post(
    "/repos/resync", boost::json::serialize(boost::json::object{{"dids", dids}}));
  if (!answer || answer->first != 200)
    throw broken{"buffering", "a resync is refused"};
  while (!all_are("syncing")) {
    if (scene_.time().now() - begin_ > resync_after + begin_within)
      throw broken{"buffering", "repos are not fetched again"};
    scene_.steps().run_for(look_interval);
  }
  scene_.steps().run_for(write_after);
  writes_at_ = scene_.time().now() - begin_;
}

bool buffering_run::all_are(const std::string& status) {
  const auto repos = scene_.repos();
  return repos && std::all_of(writers_.begin(), writers_.end(), [&](auto i) {
    const auto found = repos->find(scene_.life().truth().view(i).id.str());
    return found != repos->end() && found->second.status == status;
  });
}

/// @returns the number of commits
size_t buffering_run::write() {
  const auto random = seeded_random(scene_.settings().seed);
  const auto before = scene_.life().traffic().counts().commits;
  const auto writes = one_writes_ ? writes_of_one : writes_of_some;
  auto at = *writes_at_;
  for (size_t i = 0; i < writes; ++i) {
    wait_until(at);
    scene_.life().traffic().write(writers_[i % writers_.size()]);
    at += std::chrono::milliseconds{
      random->below(one_writes_ ? pause_of_one_ms : pause_of_some_ms)};
  }
  return scene_.life().traffic().counts().commits - before;
}

history buffering_run::read_log() {
  history out;
  const auto stores = open_stores(scene_);
  for (size_t i = 0; i < before_.size(); ++i)
    read_log(*stores.repos().each()[i], before_[i], out);
  return out;
}

void buffering_run::read_log(const store_readers& store, storage::op_id after,
                             history& out) {
  const storage::log_reader log{store.db, store.names, store.key_partition};
  for (;;) {
    const auto page = log.read(after, UINT64_MAX);
    if (!page && after == 0 && page.error().code == ec::not_found)
      return; // Nothing was ever written there.
    if (!page)
      throw broken{"store", to_string(page.error())};
    if (page->empty())
      return;
    for (const auto& entry : *page)
      for (const auto& op : entry->ops)
        if (!op.scope.starts_with('$'))
          out[entry->repo.str()].push_back(
            entry->rev.str() + " " + to_string(op.action) + " " + op.scope + "/"
            + op.rkey + " " + (op.id.defined() ? op.id.to_text() : ""));
    after = page->back()->last();
  }
}

history buffering_run::run() {
  const auto waits = !writes_at_;
  wait_until(resync_after);
  choose_writers();
  if (writes_at_)
    wait_until(*writes_at_);
  else
    begin_fetches();
  before_ = scene_.last_operations();
  const auto before = buffered();
  const auto commits = write();
  wait_until(look_after);
  // Commits that come by two streams wait twice.
  const auto waited = buffered() - before;
  if (waits ? waited < commits : waited > 0)
    throw broken{"buffering", std::to_string(waited) + " of "
                                + std::to_string(commits)
                                + " commits waited for a fetch"};
  if (!all_are("synced"))
    throw broken{"buffering", "repos that wrote are not in sync"};
  scene_.stop_node();
  return read_log();
}

/// Turns everything else off and lets work take no time, since otherwise the
/// accounts would write at other moments when there is more work. Latencies are
/// short, so that no download that was requested before contains the writes.
void keep_quiet(run_settings& x) {
  x.latency = 1ms;
  x.directory_latency = 1ms;
  x.rate = 0;
  x.speed.grain = 0us;
  x.speed.turn = 0us;
  x.speed.sync = 0us;
  x.world.hostile.clear();
  x.world.window = {};
  x.world.population.deactivated = 0;
  x.node.most = {};
}

void start(scene& x) {
  if (!x.open() || !x.start_node())
    throw broken{"start", "a run for buffering does not start"};
}

std::string compare(const history& live, const history& buffered) {
  for (const auto& [did, ops] : live) {
    const auto found = buffered.find(did);
    if (found != buffered.end() && found->second == ops)
      continue;
    if (found == buffered.end())
      return did + " has " + std::to_string(ops.size())
             + " operations, and none when they wait for a fetch";
    const auto other = std::mismatch(ops.begin(), ops.end(),
                                     found->second.begin(),
                                     found->second.end());
    const auto tell = [](const auto& all, auto at) {
      return at == all.end() ? std::string{"nothing"} : *at;
    };
    return did + ": " + tell(ops, other.first) + " is "
           + tell(found->second, other.second)
           + " when it waits for a fetch";
  }
  if (live.empty() || live.size() != buffered.size())
    return "repos that wrote: " + std::to_string(live.size()) + ", and "
           + std::to_string(buffered.size()) + " when they wait for a fetch";
  return {};
}

} // namespace

std::string weigh_buffering(uint64_t seed, trace& log) {
  std::optional<std::chrono::microseconds> wrote_at;
  history buffered;
  {
    scene x{seed, log, keep_quiet};
    start(x);
    buffering_run run{x, {}};
    buffered = run.run();
    wrote_at = run.wrote_at();
  }
  scene x{seed, log, keep_quiet};
  start(x);
  return compare(buffering_run{x, wrote_at}.run(), buffered);
}

} // namespace weir::sim

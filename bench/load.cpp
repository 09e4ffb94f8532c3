#include "bench/load.hpp"

#include "bench/bench_node.hpp"
#include "bench/machine.hpp"

#include <iostream>
#include <thread>

namespace weir::bench {

/// One repetition: an empty store and a new network, with real sockets and
/// disk.
struct load_scene {
  const corpus_facts& corpus;
  std::chrono::seconds patience;
  std::chrono::seconds steady_span;
  std::unique_ptr<outside> network;
  std::unique_ptr<bench_node> node;

  result<void> start_network() {
    auto started = outside::start(corpus.path);
    if (!started)
      return started.error();
    network = std::move(*started);
    return {};
  }

  result<void> start_node(const std::filesystem::path& dir,
                          node_settings settings = node_settings::hurried) {
    auto started = bench_node::start(*network, dir, settings);
    if (!started)
      return started.error();
    node = std::move(*started);
    return {};
  }

  /// The page of metrics is read only when the cheap count is reached.
  bool all_synced() const {
    return node->fetches() >= corpus.accounts
           && node->number("weir_repos_synced") == corpus.accounts;
  }
};

namespace {

/// Watches a number that only grows, and remembers when it last grew.
class progress {
public:
  explicit progress(uint64_t value) : value_(value), last_(steady_seconds()) {
    first_ = last_;
  }

  void see(uint64_t value) {
    const auto now = steady_seconds();
    if (value == value_) {
      if (!moved_)
        first_ = now; // The last time it had not moved.
      return;
    }
    moved_ = true;
    value_ = value;
    last_ = now;
  }

  double seconds() const noexcept { return last_ - first_; }

private:
  uint64_t value_;
  double first_ = 0;
  double last_;
  bool moved_ = false;
};

/// Fails when the node has another number of records than the network, since
/// then the result means nothing.
result<void> check_records(const load_scene& scene) {
  const auto held = scene.node->number("weir_records");
  if (held == scene.corpus.records)
    return {};
  return fail(ec::verification_failed,
              "the node has " + std::to_string(held) + " records, the network "
                + std::to_string(scene.corpus.records));
}

void take_usage(load_run& out, const cpu_meter& meter, double units) {
  const auto used = meter.stop();
  out.node_micros = 1e6 * used.own / units;
  out.outside_micros = 1e6 * used.outside / units;
  out.others_percent = used.others_percent;
}

/// Waits until everything is fetched and delivered. Repos are listed after the
/// stream is open, so none of its events is missed.
result<void> settle(const load_scene& scene, const std::string& what) {
  return scene.node->until(what, scene.patience, [&scene] {
    return scene.all_synced()
           && scene.node->number("weir_consumer_backlog_events") == 0;
  });
}

/// Plays all live events of the corpus and waits until the last one is durable.
result<load_run> play(load_scene& scene) {
  const auto& corpus = scene.corpus;
  const auto& node = *scene.node;
  const auto before = node.commits();
  const cpu_meter meter{scene.network->id()};
  progress seen{node.operations()};
  if (auto ok = scene.network->play(); !ok)
    return ok.error();
  const auto durable = [&] {
    const auto all = node.cursor() == corpus.last_seq;
    seen.see(node.operations()); // The count is read before the cursor moves.
    return all;
  };
  if (auto ok = node.until("the live events", scene.patience, durable); !ok)
    return ok.error();
  load_run out;
  const auto units = static_cast<double>(corpus.commits);
  out.seconds = seen.seconds();
  out.rate = units / out.seconds;
  take_usage(out, meter, units);
  if (const auto applied = node.commits() - before; applied != corpus.commits)
    return fail(ec::verification_failed, std::to_string(applied) + " of "
                                           + std::to_string(corpus.commits)
                                           + " commits were applied; "
                                           + node.other_events());
  return out;
}

/// Lets the node fetch everything and attaches an application, before live
/// events come.
result<void> prepare_live(load_scene& scene, const std::filesystem::path& dir) {
  if (auto ok = scene.start_node(dir); !ok)
    return ok;
  if (auto ok = scene.network->attach(scene.node->data_url()); !ok)
    return ok;
  if (auto ok = settle(scene, "the backfill before"); !ok)
    return ok;
  return check_records(scene);
}

result<load_run> run_live(load_scene& scene, const std::filesystem::path& dir) {
  if (auto ok = prepare_live(scene, dir); !ok)
    return ok.error();
  const auto& node = *scene.node;
  const auto acked = node.number("weir_acked_total");
  const auto start = steady_seconds();
  auto out = play(scene);
  if (!out)
    return out;
  if (auto ok = settle(scene, "delivery"); !ok)
    return ok.error();
  out->delivered = static_cast<double>(node.number("weir_acked_total") - acked)
                   / (steady_seconds() - start);
  return out;
}

/// The rate of `steady`, in events a second.
constexpr unsigned steady_rate = 200;

/// The measurement begins this long after the first event, when the node's
/// caches and buffers have what such a load needs.
constexpr std::chrono::seconds steady_start{1};

/// The threads of a node sleep and wake between two commits. So this thread,
/// whose CPU time counts as that of the node, sleeps all the while.
result<load_run> run_steady(load_scene& scene,
                            const std::filesystem::path& dir) {
  if (auto ok = prepare_live(scene, dir); !ok)
    return ok.error();
  const auto& node = *scene.node;
  if (auto ok = scene.network->play_steadily(steady_rate); !ok)
    return ok.error();
  std::this_thread::sleep_for(steady_start);
  const auto before = node.commits();
  const auto acked = node.number("weir_acked_total");
  const auto start = steady_seconds();
  const cpu_meter meter{scene.network->id()};
  std::this_thread::sleep_for(scene.steady_span);
  const auto commits = node.commits() - before;
  if (commits == 0)
    return fail(ec::limit_reached, "no commit was applied in "
                                     + std::to_string(scene.steady_span.count())
                                     + " s");
  const auto units = static_cast<double>(commits);
  load_run out;
  take_usage(out, meter, units);
  out.seconds = steady_seconds() - start;
  out.rate = units / out.seconds;
  out.delivered = static_cast<double>(node.number("weir_acked_total") - acked)
                  / out.seconds;
  return out;
}

/// Measures from the start of a node until it has everything.
/// @param counted The number of units.
result<load_run> fetch_all(load_scene& scene, const std::filesystem::path& dir,
                           node_settings settings, uint64_t counted) {
  const auto start = steady_seconds();
  const cpu_meter meter{scene.network->id()};
  if (auto ok = scene.start_node(dir, settings); !ok)
    return ok.error();
  const auto& node = *scene.node;
  auto ok = node.until("the backfill", scene.patience, [&] {
    return scene.all_synced();
  });
  if (!ok)
    return ok.error();
  load_run out;
  out.seconds = steady_seconds() - start;
  const auto units = static_cast<double>(counted);
  out.rate = units / out.seconds;
  take_usage(out, meter, units);
  if (ok = check_records(scene); !ok)
    return ok.error();
  return out;
}

result<load_run> run_backfill(load_scene& scene,
                              const std::filesystem::path& dir) {
  return fetch_all(scene, dir, node_settings::hurried, scene.corpus.records);
}

result<load_run> run_first(load_scene& scene,
                           const std::filesystem::path& dir) {
  return fetch_all(scene, dir, node_settings::standard, scene.corpus.accounts);
}

constexpr load_kind kinds[]{
  {"live", "commits", {22'000, 4'000}, &bench_sizes::live, true, run_live},
  {"steady", "commits", {0, 190}, &bench_sizes::live, true, run_steady},
  {"backfill",
   "records",
   {355'000, 40'000},
   &bench_sizes::backfill,
   false,
   run_backfill},
  {"first", "repos", {0, 150}, &bench_sizes::first, false, run_first},
};

/// Runs a load as often as requested, with a calibration before and after each
/// run.
result<void> repeat(const bench_options& options, const bench_sizes& sizes,
                    const load_kind& kind, load_result& out) {
  for (size_t i = 0; i < sizes.repeats; ++i) {
    std::cerr << "weir-bench: " << out.name << " " << i + 1 << "/"
              << sizes.repeats << "\n";
    load_scene scene{out.corpus, sizes.patience, sizes.steady_span, nullptr,
                     nullptr};
    const auto before = calibrate(sizes.calibration);
    auto ran = scene.start_network();
    if (!ran)
      return ran;
    auto run = kind.run(scene, options.dir);
    scene.node.reset();
    scene.network.reset();
    if (!run)
      return fail(run.error().code, out.name + ": " + run.error().context);
    run->calibration = {before, calibrate(sizes.calibration)};
    out.runs.push_back(*run);
  }
  return {};
}

} // namespace

double load_result::ceiling_here(const load_run& x) const {
  return ceiling.on_two_cores * x.calibration.mean() / reference_calibration
         * this_machine().cores / 2;
}

spread load_result::rates() const {
  std::vector<double> all;
  for (const auto& x : runs)
    all.push_back(x.rate);
  return spread_of(std::move(all));
}

std::span<const load_kind> load_kinds() noexcept {
  return kinds;
}

result<load_result> measure_load(const load_kind& kind,
                                 const bench_options& options,
                                 const bench_sizes& sizes) {
  auto corpus = find_corpus(options.dir, sizes.*kind.population,
                            kind.live ? sizes.live_events : 0);
  if (!corpus)
    return corpus.error();
  load_result out{kind.name, kind.unit, kind.ceiling, std::move(*corpus), {}};
  if (auto ok = repeat(options, sizes, kind, out); !ok)
    return ok.error();
  return out;
}

} // namespace weir::bench

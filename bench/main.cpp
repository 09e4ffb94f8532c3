#include "base/log.hpp"
#include "base/process.hpp"
#include "bench/outside.hpp"
#include "bench/report.hpp"
#include "bench/scratch_dir.hpp"

#include <CLI/CLI.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string_view>

namespace weir::bench {

namespace {

enum exit_status : int { measured = 0, failed = 1, refused = 2 };

void add_options(CLI::App& app, bench_options& x) {
  app.add_option("workload", x.workload, "What to measure")
    ->check(CLI::IsMember({"micro", "live", "steady", "backfill", "first", "all"}))
    ->capture_default_str();
  app.add_flag("--quick", x.quick,
               "Use small inputs: this shows that the programs run, not how "
               "fast");
  app.add_option("--seed", x.seed, "Seed of the network: the same seed makes the same network")
    ->capture_default_str();
  app
    .add_option("--repeats", x.repeats,
                "Runs of live, of backfill and of first [5; quick: 1]")
    ->check(CLI::Range(1, 1'000));
  app
    .add_option("--json", x.json,
                "Also write each result as a JSON object on its own line")
    ->type_name("FILE");
  app
    .add_option_function<std::string>(
      "--dir",
      [&x](const std::string& dir) {
        x.dir = dir;
      },
      "Where corpora are kept and stores are made; on a real disk "
      "[cache directory of the user]")
    ->type_name("DIR");
}

/// Prints each result as soon as it is measured.
class session {
public:
  session(const bench_options& options, std::ostream* json)
    : options_(options), sizes_(sizes_of(options)), json_(json) {}

  result<void> run() {
    scratch_dir::remove_stale(options_.dir);
    print_machine(machine_, std::cout);
    if (options_.wants("micro"))
      if (auto ok = micro(); !ok)
        return ok;
    for (const auto& x : load_kinds())
      if (options_.wants(x.name))
        if (auto ok = load(measure_load(x, options_, sizes_)); !ok)
          return ok;
    warn();
    return {};
  }

private:
  result<void> micro() {
    const auto all = measure_micro(options_, sizes_);
    if (!all)
      return all.error();
    take(*all, *all);
    return {};
  }

  result<void> load(const result<load_result>& x) {
    if (!x)
      return x.error();
    take(*x, std::vector{*x});
    return {};
  }

  template <class Shown, class Rows>
  void take(const Shown& x, const Rows& rows) {
    print(x, std::cout);
    std::cout << std::flush;
    for (const auto& y : warnings(x))
      warnings_.push_back(y);
    if (json_ != nullptr)
      for (const auto& y : rows)
        *json_ << json_line(y, machine_, options_) << "\n";
  }

  void warn() const {
    for (const auto& x : warnings_)
      std::cout << "\nWARNING: " << x;
    if (!warnings_.empty())
      std::cout << "\nWARNING: do not compare or publish these figures\n";
    else
      std::cout << "\nquiet: calibrations agree within 5 %\n";
  }

  const bench_options& options_;
  const bench_sizes sizes_;
  const machine_facts machine_ = this_machine();
  std::ostream* json_;
  std::vector<std::string> warnings_;
};

int run(const bench_options& options) {
  std::ofstream json;
  if (!options.json.empty()) {
    std::error_code unseen;
    const auto there = std::filesystem::status(options.json, unseen);
    if (exists(there) && !is_regular_file(there)) {
      std::cerr << "weir-bench: " << options.json
                << ": cannot be written: it is no file\n";
      return refused;
    }
    json.open(options.json, std::ios::trunc);
    if (!json) {
      std::cerr << "weir-bench: cannot write " << options.json << "\n";
      return refused;
    }
  }
  session all{options, json.is_open() ? &json : nullptr};
  if (const auto ok = all.run(); !ok) {
    std::cerr << "weir-bench: " << ok.error().context << "\n";
    return failed;
  }
  json.flush();
  if (json.is_open() && !json) {
    std::cerr << "weir-bench: cannot write " << options.json << "\n";
    return failed;
  }
  return measured;
}

/// Returns 0 when all was measured, 1 when a workload failed, 2 when the
/// command line is wrong.
int run_command_line(int argc, const char* const* argv) {
  std::signal(SIGPIPE, SIG_IGN);
  log::configure(log::level::warn, log::format::text);
  if (argc == 3 && std::string_view{argv[1]} == outside_command)
    return run_outside(argv[2]);
  bench_options options;
  options.dir = default_dir();
  CLI::App app{"Measures this build of Weir on this machine, through real "
               "sockets and on a real disk.",
               "weir-bench"};
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& x) {
    return app.exit(x); // --help
  } catch (const CLI::ParseError& x) {
    std::cerr << "weir-bench: " << x.what() << "\nRun with --help for more.\n";
    return refused;
  }
  return run(options);
}

} // namespace

} // namespace weir::bench

int main(int argc, char** argv) {
  weir::limit_free_memory(); // As `weir` does, whose node is measured.
  return weir::bench::run_command_line(argc, argv);
}

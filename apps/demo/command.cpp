#include "apps/demo/demo.hpp"
#include "apps/weir/settings.hpp"

#include <CLI/CLI.hpp>

namespace weir::apps {

void add_demo(CLI::App& app, int& status) {
  auto* command
    = app.add_subcommand("demo", "Run a node against a simulated network and "
                                 "compare every copy with its source");
  auto options = std::make_shared<demo_options>();
  auto seconds = std::make_shared<int64_t>(options->duration.count());
  command->option_defaults()->always_capture_default();
  command->add_option("--seed", options->seed,
                      "Seed of the network: the same seed makes the same network");
  command->add_option("--accounts", options->accounts, "Accounts")
    ->check(CLI::Range(100, 100'000));
  command
    ->add_option("--records", options->records,
                 "Records of all accounts together")
    ->check(CLI::Range(0, 10'000'000));
  command->add_option("--rate", options->rate, "Live events per second")
    ->check(CLI::Range(1.0, 100'000.0));
  command
    ->add_option("--duration", *seconds, "Seconds of live traffic and faults")
    ->check(CLI::Range(12, 3'600)); // All faults need this time.
  command->add_flag("--direct", options->direct,
                    "Follow the three hosts instead of the relay");
  command->add_flag("--forever", options->forever,
                    "Keep running with live traffic until interrupted");
  command->callback([options, seconds, &status] {
    settings log;
    log.log_level = log::level::error;
    configure_log(log);
    options->duration = std::chrono::seconds{*seconds};
    status = run_demo(*options);
  });
}

} // namespace weir::apps

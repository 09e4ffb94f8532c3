#include "apps/weir/commands.hpp"
#include "apps/weir/stop_signal.hpp"
#include "simnet/network.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace weir::apps {

namespace {

struct simnet_flags {
  simnet::network_options network;
  bool no_relay = false;
  bool no_gzip = false;
  double rate = 0;
};

void print_ready(const simnet::network_urls& urls, size_t accounts) {
  std::cout << R"({"ready":true,"plc":")" << urls.plc << R"(","pds":[)";
  for (size_t i = 0; i < urls.hosts.size(); ++i)
    std::cout << (i == 0 ? "\"" : ",\"") << urls.hosts[i] << '"';
  std::cout << R"(],"relay":")" << urls.relay << R"(","handle_resolver":")"
            << urls.plc << R"(","control":")" << urls.control
            << R"(","accounts":)" << accounts << "}" << std::endl;
}

int serve(const simnet_flags& flags) {
  stop_signal stop;
  auto options = flags.network;
  options.relay = !flags.no_relay;
  options.gzip = !flags.no_gzip;
  simnet::network network{options};
  const auto urls = network.start(2);
  if (!urls) {
    std::cerr << "weir: cannot start: " << urls.error().context << "\n";
    return refused;
  }
  if (flags.rate > 0)
    network.set_rate(flags.rate);
  print_ready(*urls, options.population.accounts);
  stop.wait();
  const watchdog limit{drain_patience};
  network.stop();
  return all_good;
}

void add_flags(CLI::App& app, simnet_flags& x) {
  auto& people = x.network.population;
  app.add_option("--seed", people.seed, "Same seed, same network")
    ->capture_default_str();
  app.add_option("--accounts", people.accounts, "Accounts at the start")
    ->check(CLI::Range(1, 1'000'000))
    ->capture_default_str();
  app.add_option("--records", people.records, "Records of all of them")
    ->check(CLI::Range(0, 100'000'000))
    ->capture_default_str();
  app.add_option("--hosts", people.hosts, "PDS hosts")
    ->check(CLI::Range(1, 1'000))
    ->capture_default_str();
  app.add_option("--rate", x.rate, "Live events a second")
    ->check(CLI::Range(0.0, 1'000'000.0))
    ->capture_default_str();
  app
    .add_option("--port", x.network.port,
                "First port on 127.0.0.1: hosts, relay, directory, control; "
                "0 takes free ones")
    ->capture_default_str();
  app.add_flag("--no-relay", x.no_relay, "Hosts only");
  app.add_flag("--no-gzip", x.no_gzip, "Never compress repositories");
  app.add_flag("--legacy-documents", x.network.legacy_documents,
               "DID documents in their older form");
  app.add_flag("--unsafe-records", people.unsafe_records,
               "Also records that strict readers refuse: floats, integers "
               "beyond 2^53");
}

} // namespace

void add_simnet(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("simnet", "Serve a simulated AT network");
  auto flags = std::make_shared<simnet_flags>();
  add_flags(*command, *flags);
  command->callback([flags, &status] {
    status = serve(*flags);
  });
}

} // namespace weir::apps

#include "apps/weir/commands.hpp"
#include "apps/weir/stop_signal.hpp"
#include "simnet/corpus_file.hpp"
#include "simnet/fault_json.hpp"
#include "simnet/network.hpp"
#include "simnet/replay.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>

namespace weir::apps {

namespace {

constexpr std::array hostilities{
  simnet::hostility::slow,    simnet::hostility::inventive,
  simnet::hostility::wide,    simnet::hostility::endless,
  simnet::hostility::fictive, simnet::hostility::fickle,
  simnet::hostility::circular};

/// Parses KIND[:ACCOUNTS[:RATE]].
std::optional<simnet::hostile_host_options>
parse_hostile(const std::string& text) {
  std::istringstream in{text};
  std::string kind;
  std::getline(in, kind, ':');
  simnet::hostile_host_options out;
  const auto at = std::ranges::find_if(hostilities, [&kind](auto x) {
    return kind == simnet::to_string(x);
  });
  if (at == hostilities.end())
    return std::nullopt;
  out.kind = *at;
  if (in.eof())
    return out;
  char colon = ':';
  if (!(in >> out.accounts) || out.accounts == 0)
    return std::nullopt;
  if (!in.eof() && !(in >> colon && colon == ':' && in >> out.bytes_per_second))
    return std::nullopt;
  return in.eof() && out.bytes_per_second > 0 ? std::optional{out}
                                              : std::nullopt;
}

struct simnet_flags {
  simnet::network_options network;
  bool no_relay = false;
  bool no_gzip = false;
  double rate = 0;
  std::string corpus;
  std::string write_corpus;
  size_t events = 60'000;
  std::vector<std::string> hostile;
  std::vector<std::string> faults;

  simnet::network_options options() const {
    auto out = network;
    out.relay = !no_relay;
    out.gzip = !no_gzip;
    for (const auto& text : hostile)
      out.hostile.push_back(parse_hostile(text).value());
    return out;
  }
};

void print_ready(const simnet::network_urls& urls, size_t accounts) {
  std::cout << R"({"ready":true,"plc":")" << urls.plc << R"(","pds":[)";
  for (size_t i = 0; i < urls.hosts.size(); ++i)
    std::cout << (i == 0 ? "\"" : ",\"") << urls.hosts[i] << '"';
  std::cout << R"(],"relay":")" << urls.relay << R"(","handle_resolver":")"
            << urls.plc << R"(","control":")" << urls.control
            << R"(","accounts":)" << accounts << "}" << std::endl;
}

int refuse(const error& why) {
  std::cerr << "weir: cannot start: " << why.context << "\n";
  return refused;
}

/// Serves a living network, or one from a file.
/// @param begin Called before the addresses of the network are printed.
template <class Network, class Begin>
int serve(Network& network, double rate, stop_signal& stop, Begin begin) {
  constexpr size_t io_threads = 2;
  const auto urls = network.start(io_threads);
  if (!urls)
    return refuse(urls.error());
  if (auto done = begin(network); !done)
    return refuse(done.error());
  if (rate > 0)
    network.set_rate(rate);
  print_ready(*urls, network.truth().accounts());
  stop.wait();
  const watchdog limit{drain_patience};
  network.stop();
  return all_good;
}

int write(const simnet_flags& flags) {
  const auto done
    = simnet::write_corpus(flags.write_corpus, flags.options(), flags.events);
  if (!done)
    return refuse(done.error());
  std::cout << R"({"accounts":)" << done->accounts << R"(,"records":)"
            << done->records << R"(,"events":)" << done->events
            << R"(,"bytes":)" << done->file_bytes << "}" << std::endl;
  return all_good;
}

int replay(const simnet_flags& flags, stop_signal& stop) {
  auto opened = simnet::replay::open(flags.corpus, flags.options());
  if (!opened)
    return refuse(opened.error());
  return serve(**opened, flags.rate, stop, [](auto&) -> result<void> {
    return {};
  });
}

result<void> inject(simnet::network& network,
                    const std::vector<std::string>& faults) {
  for (const auto& text : faults) {
    const auto x = simnet::read_fault(text);
    const auto done = x ? network.faults().inject(*x) : x.error();
    if (!done)
      return fail(ec::invalid_argument,
                  "--fault " + text + ": " + done.error().context);
  }
  return {};
}

int run(const simnet_flags& flags) {
  const auto& people = flags.network.population;
  if (people.lone_hosts >= people.hosts || people.lone_hosts > people.accounts
      || people.deactivated > people.accounts)
    return refuse({ec::invalid_argument,
                   "--lone-hosts is less than --hosts, and neither it nor "
                   "--deactivated more than --accounts"});
  if (!flags.write_corpus.empty())
    return write(flags);
  stop_signal stop;
  if (!flags.corpus.empty())
    return replay(flags, stop);
  simnet::network network{flags.options()};
  return serve(network, flags.rate, stop, [&flags](auto& x) {
    return inject(x, flags.faults);
  });
}

void add_trouble_flags(CLI::App& app, simnet_flags& x) {
  auto& people = x.network.population;
  app
    .add_option("--deactivated", people.deactivated,
                "Accounts that are deactivated at the start")
    ->capture_default_str();
  app
    .add_option("--lone-hosts", people.lone_hosts,
                "How many of the hosts have one account each")
    ->capture_default_str();
  app
    .add_option("--hostile", x.hostile,
                "A hostile host: slow, inventive, wide, endless, fictive, "
                "fickle or circular, its accounts, and bytes a second of a "
                "slow one; may be repeated")
    ->type_name("KIND[:ACCOUNTS[:RATE]]")
    ->check([](const std::string& text) {
      return parse_hostile(text)
               ? ""
               : text
                   + ": KIND[:ACCOUNTS[:RATE]] is wanted, with a KIND of slow, "
                     "inventive, wide, endless, fictive, fickle or circular";
    });
  app
    .add_option("--fault", x.faults,
                "What goes wrong from the start, as POST /fault takes it, such "
                "as '{\"kind\":\"directory_hang\",\"count\":0}'; may be "
                "repeated")
    ->type_name("JSON");
}

void add_flags(CLI::App& app, simnet_flags& x) {
  auto& people = x.network.population;
  app.option_defaults()->always_capture_default();
  app.add_option("--seed", people.seed,
                 "Seed of the network: the same seed makes the same network");
  app.add_option("--accounts", people.accounts, "Accounts at the start")
    ->check(CLI::Range(1, 1'000'000));
  app
    .add_option("--records", people.records, "Records of all accounts together")
    ->check(CLI::Range(0, 100'000'000));
  app.add_option("--hosts", people.hosts, "PDS hosts")
    ->check(CLI::Range(1, 1'000));
  app.add_option("--rate", x.rate, "Live events per second")
    ->check(CLI::Range(0.0, 1'000'000.0));
  app.add_option("--port", x.network.port,
                 "First port on 127.0.0.1: hosts, relay, directory, control; "
                 "0 takes free ones");
  app.add_flag("--no-relay", x.no_relay, "Hosts only");
  app.add_flag("--no-gzip", x.no_gzip, "Never compress repositories");
  app.add_flag("--legacy-documents", x.network.legacy_documents,
               "DID documents in their older form");
  app.add_flag("--unsafe-records", people.unsafe_records,
               "Also records that strict readers refuse: floats, integers "
               "beyond 2^53");
  auto* from = app
                 .add_option("--corpus", x.corpus,
                             "Replay a network that was written down")
                 ->type_name("FILE");
  app
    .add_option("--write-corpus", x.write_corpus,
                "Write the network down, signed, instead of serving it")
    ->type_name("FILE")
    ->excludes(from);
  app.add_option("--events", x.events, "Live events of that corpus")
    ->check(CLI::Range(0, 10'000'000));
  app.option_defaults()->always_capture_default(false);
}

} // namespace

void add_simnet(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("simnet", "Serve a simulated AT network");
  auto flags = std::make_shared<simnet_flags>();
  add_flags(*command, *flags);
  add_trouble_flags(*command, *flags);
  command->callback([flags, &status] {
    status = run(*flags);
  });
}

} // namespace weir::apps

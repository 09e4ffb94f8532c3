// The process with the network of a benchmark (bench/outside.hpp). It reads one
// order per line on standard input and writes one answer per line on standard
// output.

#include "apps/channel/channel_client.hpp"
#include "bench/outside.hpp"
#include "net/io_threads.hpp"
#include "simnet/replay.hpp"

#include <charconv>
#include <iostream>
#include <optional>
#include <string_view>

namespace weir::bench {

namespace {

using namespace std::chrono_literals;

constexpr size_t window_frames = 512;
constexpr auto reconnect_delay = 50ms;

/// The cheapest application there is: acks every event, `{"id":123,...`, and
/// looks at nothing else.
std::vector<uint64_t> ids_of(const std::vector<std::string_view>& events) {
  constexpr std::string_view start = R"({"id":)";
  std::vector<uint64_t> out;
  out.reserve(events.size());
  for (const auto x : events) {
    uint64_t id = 0;
    if (x.starts_with(start)
        && std::from_chars(x.data() + start.size(), x.data() + x.size(), id).ec
             == std::errc{})
      out.push_back(id);
  }
  return out;
}

class outside_process {
public:
  explicit outside_process(simnet::replay& network) : network_(network) {
    threads_.start();
  }

  ~outside_process() {
    threads_.stop();
    threads_.join();
  }

  outside_process(const outside_process&) = delete;
  outside_process& operator=(const outside_process&) = delete;

  std::string obey(std::string_view order) {
    constexpr std::string_view attach = "attach ";
    if (order.starts_with(attach))
      return start_reader(std::string{order.substr(attach.size())});
    constexpr std::string_view rate = "rate ";
    if (order.starts_with(rate))
      network_.set_rate(std::stod(std::string{order.substr(rate.size())}));
    else if (order == "play")
      network_.play_all();
    else
      return "unknown order";
    return "ok";
  }

private:
  std::string start_reader(const std::string& data_url) {
    apps::channel_options options;
    options.take = ids_of;
    options.reconnect_delay = reconnect_delay;
    options.window_frames = window_frames;
    reader_.emplace(net::make_system_transport(threads_), data_url,
                    std::move(options));
    reader_->start();
    return "ok";
  }

  simnet::replay& network_;
  net::io_threads threads_; ///< Outlives the reader.
  std::optional<apps::channel_client> reader_;
};

} // namespace

int run_outside(const std::string& corpus) {
  simnet::network_options options;
  options.gzip = false; // It would only use the node's cores.
  auto network = simnet::replay::open(corpus, options);
  if (!network) {
    std::cerr << "weir-bench: " << network.error().context << "\n";
    return 1;
  }
  const auto urls = (*network)->start();
  if (!urls) {
    std::cerr << "weir-bench: " << urls.error().context << "\n";
    return 1;
  }
  std::cout << urls->plc << " " << urls->relay << std::endl;
  outside_process self{**network};
  for (std::string line; std::getline(std::cin, line);)
    std::cout << self.obey(line) << std::endl;
  (*network)->stop();
  return 0;
}

} // namespace weir::bench

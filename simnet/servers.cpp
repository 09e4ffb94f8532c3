#include "simnet/servers.hpp"

#include "base/version.hpp"
#include "net/io_threads.hpp"
#include "simnet/services.hpp"

namespace weir::simnet {

namespace {

/// All clients come from one address here.
constexpr size_t connections_max = 4096;

} // namespace

servers::servers(truth& facts, request_faults& faults,
                 const network_options& options, pacer::worker work,
                 control_maker control, hostile_hosts* hostile)
  : options_(options), next_port_(options.port), work_(std::move(work)),
    make_control_(std::move(control)), site_{facts,
                                             faults,
                                             nullptr,
                                             version(),
                                             options.legacy_documents,
                                             options.gzip,
                                             options.listing_lines_max,
                                             {},
                                             hostile} {}

servers::~servers() {
  stop();
}

result<network_urls> servers::start(size_t io_threads) {
  threads_ = std::make_unique<net::io_threads>(io_threads);
  auto out = start(net::make_system_transport(*threads_),
                   threads_->loop(threads_->size() - 1));
  threads_->start();
  return out;
}

result<network_urls> servers::start(const net::transport_ptr& network,
                                    net::event_loop& traffic_loop) {
  site_.time = alarms::make(traffic_loop);
  pacer_ = pacer::make(traffic_loop, work_);
  result<void> opened;
  const auto serve
    = [&](std::shared_ptr<net::http_service> x, const std::string& name) {
        auto url = opened ? open(network, std::move(x), name) : opened.error();
        if (!url)
          opened = url.error();
        return url ? *url : std::string{};
      };
  // Hosts are opened before the directory, whose documents name them.
  network_urls out;
  for (size_t i = 0; i < site_.facts.hosts(); ++i)
    out.hosts.push_back(
      serve(make_pds_service(site_, i), "host" + std::to_string(i)));
  site_.host_urls = out.hosts;
  if (site_.facts.relay_log())
    out.relay = serve(make_relay_service(site_), "relay");
  out.plc = serve(make_plc_service(site_, options_.population.epoch), "plc");
  out.control = serve(make_control_(pacer_), "control");
  if (!opened)
    return opened.error();
  return out;
}

void servers::stop() {
  for (size_t i = 0; i < site_.facts.hosts(); ++i)
    site_.facts.host_log(i).cut();
  if (auto* log = site_.facts.relay_log())
    log->cut();
  open_.clear();
  if (threads_) {
    threads_->finish();
    threads_->join();
  } else if (pacer_) {
    // Timers must end on their loop.
    site_.time->loop().post([pace = pacer_, time = site_.time] {});
  }
  pacer_.reset();
}

void servers::close_host(size_t host) {
  site_.facts.host_log(host).cut();
  open_.at(host).reset(); // Hosts were opened first, in their order.
}

result<std::string> servers::open(const net::transport_ptr& network,
                                  std::shared_ptr<net::http_service> service,
                                  const std::string& name) {
  net::http_server_options options;
  options.at = {net::ip_address::loopback_v4(), next_port_};
  options.places
    = {connections_max, connections_max, connections_max, connections_max};
  if (next_port_ != 0)
    ++next_port_;
  auto server = make_http_server(network, std::move(service), options);
  if (!server)
    return server.error();
  open_.push_back(*server);
  const auto& at = open_.back()->local();
  if (options_.domain.empty())
    return "http://" + to_string(at);
  return "http://" + name + "." + options_.domain + ":"
         + std::to_string(at.port);
}

} // namespace weir::simnet

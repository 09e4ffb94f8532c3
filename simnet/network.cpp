#include "simnet/network.hpp"

#include "net/io_threads.hpp"
#include "simnet/control_service.hpp"
#include "simnet/pacer.hpp"

namespace weir::simnet {

struct network::impl {
  explicit impl(const network_options& options)
    : model(options), life(model), enemies(model), requests(*options.time),
      trouble(model, life, requests), open(model, requests, options, &enemies) {
  }

  world model;
  simnet::traffic life;
  hostile_hosts enemies;
  request_faults requests;
  simnet::faults trouble;
  // What the loops use is destroyed before the threads of the loops.
  std::unique_ptr<net::io_threads> threads;
  std::shared_ptr<pacer> pace;
  std::shared_ptr<alarms> time;
  servers open;
};

network::network(network_options options)
  : impl_(std::make_unique<impl>(options)) {}

network::~network() {
  stop();
}

result<network_urls> network::start(size_t io_threads) {
  impl_->threads = std::make_unique<net::io_threads>(io_threads);
  auto& threads = *impl_->threads;
  auto out = start(net::make_system_transport(threads),
                   threads.loop(threads.size() - 1));
  threads.start();
  return out;
}

result<network_urls> network::start(const net::transport_ptr& over,
                                    net::event_loop& traffic_loop) {
  auto& life = impl_->life;
  impl_->time = alarms::make(traffic_loop);
  impl_->pace = pacer::make(traffic_loop, [&life](size_t n) {
    return life.make(n);
  });
  return impl_->open.start(over, impl_->time,
                           make_control_service(impl_->model, life,
                                                impl_->trouble, impl_->requests,
                                                impl_->enemies, impl_->pace));
}

void network::stop() {
  impl_->open.stop();
  if (impl_->threads) {
    impl_->threads->finish();
    impl_->threads->join();
  } else if (impl_->pace) {
    // Timers must end on their loop.
    impl_->time->loop().post([pace = impl_->pace, time = impl_->time] {});
  }
  impl_->pace.reset();
  impl_->time.reset();
}

void network::close_host(size_t host) {
  impl_->open.close_host(host);
}

void network::set_rate(double events_per_second) {
  impl_->pace->set_rate(events_per_second);
}

world& network::truth() noexcept {
  return impl_->model;
}

simnet::traffic& network::traffic() noexcept {
  return impl_->life;
}

simnet::faults& network::faults() noexcept {
  return impl_->trouble;
}

request_faults& network::requests() noexcept {
  return impl_->requests;
}

const hostile_hosts& network::hostile() const noexcept {
  return impl_->enemies;
}

} // namespace weir::simnet

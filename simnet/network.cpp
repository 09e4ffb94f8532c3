#include "simnet/network.hpp"

#include "simnet/control_service.hpp"

namespace weir::simnet {

network::network(const network_options& options)
  : world_(options), traffic_(world_), hostile_(world_),
    requests_(*options.time), faults_(world_, traffic_, requests_),
    servers_(
      world_, requests_, options,
      [this](size_t n) {
        return traffic_.make(n);
      },
      [this](const std::shared_ptr<pacer>& pace) {
        return make_control_service(world_, traffic_, faults_, requests_,
                                    hostile_, pace);
      },
      &hostile_) {}

} // namespace weir::simnet

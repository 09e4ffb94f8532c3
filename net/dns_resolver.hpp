#pragma once

#include "net/transport.hpp"

namespace weir::net {

/// DNS look-ups that never block a thread, bounded in number, time and size.
///
/// # Ownership and threads
/// Works on one loop of `io_threads`. Call it from any thread; answers come on
/// the loop that the caller chose.
class dns_resolver {
public:
  using addresses_handler
    = std::function<void(result<std::vector<ip_address>>)>;
  using txt_handler = std::function<void(result<std::vector<std::string>>)>;

  virtual ~dns_resolver() = default;

  virtual void resolve(event_loop& loop, std::string name,
                       addresses_handler done)
    = 0;

  virtual void resolve_txt(event_loop& loop, std::string name, txt_handler done)
    = 0;
};

/// @param loop A loop of `io_threads`.
std::shared_ptr<dns_resolver>
make_dns_resolver(event_loop& loop, const system_transport_options& options);

} // namespace weir::net

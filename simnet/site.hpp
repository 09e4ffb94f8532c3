#pragma once

#include "simnet/alarms.hpp"
#include "simnet/request_faults.hpp"
#include "simnet/truth.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weir::simnet {

class hostile_hosts;

/// What all servers of one network share. It outlives them. The URLs are set
/// while the servers start and do not change afterwards.
struct site {
  truth& facts;
  request_faults& faults;
  std::shared_ptr<alarms> time;
  std::string version;
  bool legacy_documents = false;
  bool gzip = true; ///< Whether hosts compress for clients that accept it.
  size_t listing_lines_max = 1'000;
  std::vector<std::string> host_urls; ///< Origins, by host.
  hostile_hosts* hostile = nullptr;   ///< Null when all hosts are honest.
};

} // namespace weir::simnet

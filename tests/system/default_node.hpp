#pragma once

#include "apps/weir/web_client.hpp"
#include "simnet/network.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

/// `weir run` with its default options, except that it follows every account of
/// hosts on this machine.
///
/// # Ownership
/// The process ends with the object; the directory is the caller's.
class default_node {
public:
  /// @param hosts The numbers of the PDSs in `urls` that it follows.
  default_node(const std::string& data_dir, const simnet::network_urls& urls,
               const std::vector<size_t>& hosts,
               std::vector<std::string> more = {});

  /// The number of these accounts whose repo is synced at its true rev.
  size_t synced(const simnet::truth& truth, const std::vector<size_t>& which);

  /// The value of a metric.
  uint64_t metric(std::string_view name);

  /// Removes all these repos from the tracked ones.
  void remove(const std::vector<std::string>& dids);

  /// Stops it in order.
  void stop();

  const program& process() const noexcept { return *process_; }

private:
  std::string get(const std::string& url);

  std::unique_ptr<program> process_;
  node_addresses at_;
  std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
};

/// The default rate of look-ups at the time when the delay of honest repos was
/// first measured. At a higher rate that delay is a fifth of a second, most of
/// which is the start.
inline const std::vector<std::string> look_ups_as_before{"--plc-per-second",
                                                         "20"};

/// The total size in bytes of all files below a directory.
size_t bytes_of_directory(const std::string& path);

} // namespace weir::tests

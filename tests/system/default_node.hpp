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

/// `weir run` with all its default options, but that it follows every account
/// of hosts on this machine.
///
/// # Ownership
/// The process ends with the object; the directory is the caller's.
class default_node {
public:
  /// @param hosts PDSs of `urls` that it follows, by number.
  default_node(const std::string& data_dir, const simnet::network_urls& urls,
               const std::vector<size_t>& hosts,
               std::vector<std::string> more = {});

  /// Of these accounts, those whose repo is synced at the revision of the truth.
  size_t synced(const simnet::truth& truth, const std::vector<size_t>& which);

  /// The value of a metric.
  uint64_t metric(std::string_view name);

  /// Takes them out, all of them.
  void remove(const std::vector<std::string>& dids);

  /// Ends it in order.
  void stop();

  const program& process() const noexcept { return *process_; }

private:
  std::string get(const std::string& url);

  std::unique_ptr<program> process_;
  node_addresses at_;
  std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
};

/// Look-ups as they were by default when it was first measured how long honest
/// repos take: with more of them that is a fifth of a second, most of which is
/// the start.
inline const std::vector<std::string> look_ups_as_before{"--plc-per-second",
                                                         "20"};

/// Bytes of all files below.
size_t bytes_of_directory(const std::string& path);

} // namespace weir::tests

#pragma once

#include "tests/system/durable_consumer.hpp"
#include "tests/system/followed_network.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

/// Troubles of a network besides its traffic.
enum class trouble_kind : uint8_t {
  usual,
  losses, ///< Its relay forgets events that a node has not read.
  /// Keys, hosts and account states change while the directory does not answer.
  silent_directory,
};

/// The network of a test that kills its node repeatedly: it causes troubles in
/// turn and makes the comparison at the end.
class kill_network {
public:
  /// @param kills The number of kills to come; the network is made large enough
  /// for them.
  kill_network(uint64_t seed, uint64_t kills,
               trouble_kind trouble = trouble_kind::usual);

  simnet::network& life() noexcept { return net_.life(); }

  std::vector<std::string> arguments(const std::string& data_dir,
                                     std::vector<std::string> more) const {
    return net_.arguments(data_dir, std::move(more));
  }

  const net::transport_ptr& transport() const { return web_->transport(); }

  /// Causes the next kind of trouble, in turn.
  void next_fault();

  /// Ends the troubles that do not end by themselves.
  void end_faults();

  /// Deletes an account at its host; false when too few are left.
  bool remove_one();

  size_t faults_done() const noexcept { return faults_done_; }

  /// Waits until the consumer's copy equals the network and no event is on its
  /// way.
  /// @returns the differences that are left
  std::string converge(const durable_consumer& consumer,
                       const node_addresses& at);

  /// Checks only what the application has on disk: no id has two contents, and
  /// the union of its events, folded per record, equals the network. The store
  /// must equal the network, too. Reports by expectations of GoogleTest.
  void check(const durable_consumer& consumer, const std::string& file,
             const std::string& data_dir);

private:
  size_t accounts_;
  trouble_kind trouble_;
  followed_network net_;
  std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
  size_t faults_done_ = 0;
  size_t removed_ = 0;
};

} // namespace weir::tests

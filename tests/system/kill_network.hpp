#pragma once

#include "tests/system/durable_consumer.hpp"
#include "tests/system/followed_network.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

/// What happens in a network besides traffic.
enum class trouble_kind : uint8_t {
  usual,
  losses,           ///< Its relay forgets events that a node has not read.
  silent_directory, ///< Keys, hosts and states change while nobody can ask.
};

/// The network of a test that kills its node again and again: trouble in turn,
/// and the comparison in the end.
class kill_network {
public:
  /// @param kills How many are to come; the network is large enough for them.
  kill_network(uint64_t seed, uint64_t kills,
               trouble_kind trouble = trouble_kind::usual);

  simnet::network& life() noexcept { return net_.life(); }

  std::vector<std::string> arguments(const std::string& data_dir,
                                     std::vector<std::string> more) const {
    return net_.arguments(data_dir, std::move(more));
  }

  const net::transport_ptr& transport() const { return web_->transport(); }

  /// One trouble after the other, round and round.
  void next_fault();

  /// What does not end by itself does.
  void end_faults();

  /// An account is deleted at its host; false when too few are left.
  bool remove_one();

  size_t faults_done() const noexcept { return faults_done_; }

  /// Waits until the consumer's copy is the network and nothing is on its way
  /// any more.
  /// @returns what differs in the end
  std::string converge(const durable_consumer& consumer,
                       const node_addresses& at);

  /// What the application has on disk, and nothing else: no id has two
  /// contents, and its union, folded per record, is the network; so is the
  /// store. Expectations of GoogleTest.
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

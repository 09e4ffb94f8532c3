#pragma once

#include "net/transport.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/live_repo.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace weir::tests {

/// Commits of some accounts without a pause: as soon as the consumer has one,
/// the next is sent, so that `window` of them are always on their way. The
/// consumer expects each commit once, and the commits of an account in order.
///
/// # Ownership and threads
/// Borrows the stream and the repos, which nobody else may use while it exists.
/// All calls come from one thread. Its destructor ends its own two threads.
class commit_load {
public:
  static constexpr size_t window = 256;

  /// What came since the last call that asked for it.
  struct told {
    size_t commits = 0;
    /// The longest time from a commit's frame to its event.
    std::chrono::milliseconds longest{0};
    std::chrono::milliseconds time{0}; ///< The time in which the commits came.
  };

  /// @param data_url The data URL of the node, which must have the repos.
  commit_load(const net::transport_ptr& network, const std::string& data_url,
              hostile_stream& stream, std::list<live_repo>& repos);
  ~commit_load();

  commit_load(const commit_load&) = delete;
  commit_load& operator=(const commit_load&) = delete;

  /// Sends another frame between the commits. `make` gets its seq.
  bool send(const std::function<bytes(int64_t)>& make);

  told ask();

  /// Waits until `commits` commits have come since the last call of `ask`.
  bool await(size_t commits);

  /// Ends the sending. Returns when every commit that was sent has come.
  /// @returns False when one did not come.
  bool stop();

  /// The first event that was not expected, or not at that time; empty when
  /// there was none.
  std::string surprise() const;

private:
  using steady_time = std::chrono::steady_clock::time_point;

  void work();
  bool send_next();
  std::vector<uint64_t> take(const std::vector<std::string_view>& texts);
  void arrive(std::string_view text);

  hostile_stream& stream_;
  std::list<live_repo>& repos_;
  std::mutex sending_; ///< Guards the order of the stream.
  int64_t seq_ = 0;
  mutable std::mutex guard_; ///< Guards all members below.
  std::condition_variable changed_;
  /// For each account, the content of its next commits and when each was sent.
  std::map<std::string, std::deque<std::pair<std::string, steady_time>>>
    on_their_way_;
  size_t waiting_ = 0; ///< Number of commits in `on_their_way_`.
  bool over_ = false;
  std::string surprise_;
  told told_;
  steady_time since_ = std::chrono::steady_clock::now();
  std::unique_ptr<channel_client> channel_;
  std::thread worker_;
};

std::ostream& operator<<(std::ostream& out, const commit_load::told& x);

} // namespace weir::tests

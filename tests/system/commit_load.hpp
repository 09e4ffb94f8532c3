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

/// Commits of some accounts without a pause: as soon as one has come to the
/// consumer the next one is sent, so that `window` of them are always on their
/// way. The consumer expects each of them once and those of an account in
/// order.
///
/// # Ownership and threads
/// Borrows the stream and the repos, which are nobody else's until the end. All
/// calls from one thread. Ends its own two when it is destroyed.
class commit_load {
public:
  static constexpr size_t window = 256;

  /// What came since this was asked for last.
  struct told {
    size_t commits = 0;
    std::chrono::milliseconds longest{0}; ///< From its frame to its event.
    std::chrono::milliseconds time{0};    ///< In which they came.
  };

  /// @param data_url Of the node, which has the repos.
  commit_load(const net::transport_ptr& network, const std::string& data_url,
              hostile_stream& stream, std::list<live_repo>& repos);
  ~commit_load();

  commit_load(const commit_load&) = delete;
  commit_load& operator=(const commit_load&) = delete;

  /// Puts another frame between the commits; `make` is told its sequence number.
  bool send(const std::function<bytes(int64_t)>& make);

  told ask();

  /// Waits until so many have come since `ask` was called last.
  bool await(size_t commits);

  /// Ends the sending. Returns when all that was sent has come.
  /// @returns false when something did not.
  bool stop();

  /// What came that was not expected, or not then; empty when nothing did.
  std::string surprise() const;

private:
  using steady_time = std::chrono::steady_clock::time_point;

  void work();
  bool send_next();
  std::vector<uint64_t> take(const std::vector<std::string_view>& texts);
  void arrive(std::string_view text);

  hostile_stream& stream_;
  std::list<live_repo>& repos_;
  std::mutex sending_; ///< The order of the stream.
  int64_t seq_ = 0;
  mutable std::mutex guard_; ///< Of all below.
  std::condition_variable changed_;
  /// By account: what its next commits say, and when each was sent.
  std::map<std::string, std::deque<std::pair<std::string, steady_time>>>
    on_their_way_;
  size_t waiting_ = 0; ///< Of those.
  bool over_ = false;
  std::string surprise_;
  told told_;
  steady_time since_ = std::chrono::steady_clock::now();
  std::unique_ptr<channel_client> channel_;
  std::thread worker_;
};

std::ostream& operator<<(std::ostream& out, const commit_load::told& x);

} // namespace weir::tests

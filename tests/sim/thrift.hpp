#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weir::sim {

/// The promises of a node about its requests to other servers.
struct thrift_promises {
  double look_ups_per_second = 0; ///< `plc_per_second`.
  uint16_t directory = 0;         ///< The directory's port.
  /// No host names accounts that do not exist; only clients ask for such names.
  bool only_clients_invent = true;
  /// Whether an account with this DID ever existed.
  std::function<bool(const std::string& did)> is_known;
  /// The number of events that the stream of a server has brought so far.
  std::function<uint64_t(uint16_t port)> events;
};

/// Counts a node's requests to the network and reports when they exceed its
/// promises. Look-ups have a budget, in each second as well as over time (those
/// that waited for a slow directory leave together when it is fast again), and
/// those of clients have a share of it. Requests about one account that get no
/// answer must keep their pauses, and so must connections to a stream. A
/// directory that limits us (429) is asked for nothing before the time that it
/// names.
///
/// # Ownership and threads
/// The promises refer to objects that outlive it. One thread.
class thrift_watch {
public:
  explicit thrift_watch(thrift_promises x);

  /// A new life of the node begins: budgets and pauses start anew.
  void begin_life();

  /// @param head At least the first line of a request.
  void on_request(steady_time now, uint16_t server, uint64_t connection,
                  std::string_view head);

  /// @param head The first line of an answer, or any other data.
  void on_answer(steady_time now, uint64_t connection, std::string_view head);

  /// A connection to the directory, or the look-up of its name, has ended.
  void on_wait(steady_time now, std::chrono::microseconds took);

  /// Number of look-ups of names that do not exist, in this life of the node.
  uint64_t invented() const noexcept { return invented_; }

  /// The first promise that was broken; empty: none.
  const std::string& broken() const noexcept { return broken_; }

private:
  using times = std::deque<steady_time>;

  struct request {
    std::string what;
    steady_time at;
    bool of_document = false;
  };

  void note_document(steady_time now, uint64_t connection,
                     const std::string& did);
  double together(steady_time now, std::chrono::microseconds within) const;
  void note_limit(steady_time now, std::string_view head);
  bool is_limited(steady_time now) const;
  void note_stream(steady_time now, uint16_t server);
  void ask_again(steady_time now, uint64_t connection,
                 const std::string& what, bool of_document);
  void spend(steady_time now, times& from, std::chrono::microseconds within,
             double most, const std::string& what);

  thrift_promises promises_;
  times documents_in_second_;
  times documents_in_minute_;
  times inventions_;
  uint64_t invented_ = 0;
  std::map<std::string, times> unanswered_; ///< By method and account.
  /// Those that were told to wait (429).
  std::map<std::string, times> limited_;
  std::map<uint64_t, request> open_; ///< By connection.
  /// When the directory last delayed a request for long.
  std::optional<steady_time> held_up_;
  /// When the directory last limited us, and until when.
  std::optional<std::pair<steady_time, steady_time>> limited_by_directory_;
  /// Requests for a stream, and the number of its events at that time.
  std::map<uint16_t, std::deque<std::pair<steady_time, uint64_t>>> dials_;
  std::string broken_;
};

} // namespace weir::sim

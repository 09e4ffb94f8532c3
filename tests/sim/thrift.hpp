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

/// What a node promises about its requests to others.
struct thrift_promises {
  double look_ups_per_second = 0; ///< `plc_per_second`.
  uint16_t directory = 0;         ///< Its port.
  /// No host invents accounts: clients alone ask for those that nobody has.
  bool only_clients_invent = true;
  /// Whether an account of that name was ever there.
  std::function<bool(const std::string& did)> is_known;
  /// How many events the stream of a server has brought so far.
  std::function<uint64_t(uint16_t port)> events;
};

/// Counts what a node asks the network for, and says when that is more than it
/// promises: look-ups by their budget, in each second as well as over time (what
/// waited for a directory that is slow leaves at once when it is not), and those
/// of clients by their share of it; what is not answered about one account by its
/// pauses; dials of a stream by theirs. A directory that limits us
/// (429) is asked for nothing before the time that it names.
///
/// # Ownership and threads
/// What it is given outlives it. One thread.
class thrift_watch {
public:
  explicit thrift_watch(thrift_promises x);

  /// Budgets and pauses are those of one life of the node.
  void begin_life();

  /// @param head The first line of a request, at least.
  void on_request(steady_time now, uint16_t server, uint64_t connection,
                  std::string_view head);

  /// @param head The first line of an answer, or anything else.
  void on_answer(steady_time now, uint64_t connection, std::string_view head);

  /// A dial of the directory, or the look-up of its name, is over.
  void on_wait(steady_time now, std::chrono::microseconds took);

  /// Look-ups of names that nobody has, in this life of the node.
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
  std::map<std::string, times> limited_;    ///< Those that were told to wait.
  std::map<uint64_t, request> open_;        ///< By connection.
  /// When the directory last let a request wait for long.
  std::optional<steady_time> held_up_;
  /// When the directory last limited us, and until when.
  std::optional<std::pair<steady_time, steady_time>> limited_by_directory_;
  /// Requests for a stream, and how many events there were by then.
  std::map<uint16_t, std::deque<std::pair<steady_time, uint64_t>>> dials_;
  std::string broken_;
};

} // namespace weir::sim

#pragma once

#include "net/transport.hpp"
#include "tests/sim/trace.hpp"
#include "tests/sim/virtual_loop.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weir::sim {

class virtual_stream;

/// The behaviour of connections to one server.
struct road {
  bool refuses = false;  ///< New connections are refused.
  bool swallows = false; ///< New connections get no answer.
  bool stalls = false;   ///< Data on open connections does not arrive.
  bool crawls = false;   ///< Its rate is lower than usual.
  std::chrono::microseconds latency{500};
  uint64_t bytes_per_second = 0; ///< 0: no limit.
  /// Lifetime of a connection; 0: no limit.
  std::chrono::microseconds lifetime{0};
};

/// How often these faults, and those of a server's name, took effect.
struct road_troubles {
  uint64_t refused = 0;    ///< Refused connections.
  uint64_t unanswered = 0; ///< Connections without an answer.
  uint64_t stalled = 0;    ///< Pieces of data that were held back.
  uint64_t slowed = 0;     ///< Pieces of data that had to wait for the rate.
  /// Ends of connections that reached their lifetime.
  uint64_t short_lived = 0;
  uint64_t cut = 0; ///< Ends of connections that were cut.
};

/// The kind of answer to a look-up of a server's name.
enum class naming : uint8_t { found, unknown, silent };

/// A network in memory: any number of machines, each with loops of its own,
/// connected by ordered streams that take time. Faults are set by the port of
/// the server, because all machines have the address 127.0.0.1.
///
/// # Ownership and threads
/// Outlives its machines' transports and everything that uses them. One thread.
class virtual_net {
public:
  /// One machine.
  class machine;

  virtual_net(timeline& time, trace& log);
  ~virtual_net();

  /// @param name Appears in the trace. The machine exists as long as the
  /// network, even after `halt`.
  std::shared_ptr<machine> add(std::string name, size_t loops);

  /// The road to the server at `port`.
  road& to(uint16_t port) { return roads_[port]; }

  /// Delivers the data that a stall held back.
  void resume(uint16_t port);

  /// Cuts every open connection to the server at `port`; both ends see a reset.
  size_t cut(uint16_t port);

  void set_naming(const std::string& name, naming how) { names_[name] = how; }

  const road_troubles& troubles(uint16_t port) { return troubles_[port]; }

  /// How often a look-up of the name got this answer because of a fault.
  uint64_t misnamed(const std::string& name, naming how) const {
    const auto i = misnamed_.find({name, how});
    return i == misnamed_.end() ? 0 : i->second;
  }

  /// Called for each write to a connection, from either end, with the writer's
  /// loop, the port of the server, the number of the connection, and the data.
  using tap = std::function<void(const virtual_loop& from, uint16_t server,
                                 uint64_t number, std::string_view written)>;

  /// Sets the function that sees all later writes.
  void set_tap(tap x) { tap_ = std::move(x); }

  /// Called when a machine has waited for a connection to a server or for the
  /// look-up of a name, with the machine's name, the port of the server (0 for
  /// a look-up), the name, and the time that it took.
  using wait_tap
    = std::function<void(const std::string& machine, uint16_t server,
                         const std::string& name,
                         std::chrono::microseconds took)>;

  /// Sets the function that sees all later waits.
  void set_wait_tap(wait_tap x) { wait_tap_ = std::move(x); }

  /// All loops of machines that are not halted.
  const std::vector<virtual_loop*>& loops() const noexcept { return loops_; }

  timeline& time() noexcept { return time_; }

  size_t connections() const;

  /// The longest time for which a connection of this machine has had bytes that
  /// are not read, counted from `begin` at the earliest, and the port of its
  /// server.
  std::pair<std::chrono::microseconds, uint16_t>
  longest_unread(const machine& at, steady_time begin) const;

private:
  friend class machine;
  friend class virtual_stream;

  struct port_owner {
    machine* at = nullptr;
    net::accept_handler accepted;
    uint64_t number = 0;
  };

  void connect(virtual_loop& from, const net::endpoint& to,
               net::stream_handler done);
  void keep(const std::shared_ptr<virtual_stream>& x);

  timeline& time_;
  trace& trace_;
  std::vector<std::shared_ptr<machine>> machines_;
  std::vector<virtual_loop*> loops_; ///< Those of machines that are not halted.
  std::map<uint16_t, port_owner> ports_;
  std::map<uint16_t, road> roads_;
  std::map<uint16_t, road_troubles> troubles_;
  std::map<std::string, naming> names_;
  std::map<std::pair<std::string, naming>, uint64_t> misnamed_;
  tap tap_;
  wait_tap wait_tap_;
  std::vector<std::weak_ptr<virtual_stream>> streams_;
  uint16_t next_port_ = 20'000;
  uint64_t last_ = 0; ///< Numbers streams and ports.
};

class virtual_net::machine final : public net::transport {
public:
  machine(virtual_net& net, std::string name, size_t loops);

  /// Ends the machine: its ports are closed, its connections are cut, and the
  /// tasks of its loops are dropped.
  void halt();

  virtual_loop& loop(size_t i) noexcept { return *loops_[i]; }

  /// Whether this end of a connection belongs to the machine.
  bool owns(const virtual_stream& x) const;

  /// Drops tasks that will never run.
  void drop_work();

  net::event_loop& next_loop() noexcept override;
  void dial(net::event_loop& loop, const net::endpoint& to,
            std::chrono::microseconds timeout,
            net::stream_handler done) override;
  result<std::unique_ptr<net::listener>>
  listen(const net::endpoint& at, net::accept_handler accepted) override;
  void resolve(
    net::event_loop& loop, std::string name,
    std::function<void(result<std::vector<net::ip_address>>)> done) override;
  void resolve_txt(
    net::event_loop& loop, std::string name,
    std::function<void(result<std::vector<std::string>>)> done) override;

private:
  friend class virtual_net;
  class port;

  virtual_net& net_;
  std::string name_;
  std::vector<std::unique_ptr<virtual_loop>> loops_;
  size_t turn_ = 0;
};

} // namespace weir::sim

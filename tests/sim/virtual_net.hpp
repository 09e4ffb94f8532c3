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

/// How the way to one server behaves.
struct road {
  bool refuses = false; ///< Dials are refused.
  bool swallows = false; ///< Dials are not answered.
  bool stalls = false;  ///< What is under way on open connections stays there.
  bool crawls = false;  ///< It has fewer bytes a second than usual.
  std::chrono::microseconds latency{500};
  uint64_t bytes_per_second = 0; ///< 0: no bound.
  std::chrono::microseconds lifetime{0}; ///< Of a connection; 0: no bound.
};

/// What came of that, and of the server's name: how often somebody met it.
struct road_troubles {
  uint64_t refused = 0;    ///< Dials.
  uint64_t unanswered = 0; ///< Dials.
  uint64_t stalled = 0;    ///< Pieces that stayed under way.
  uint64_t slowed = 0;     ///< Pieces that had to wait for the road.
  uint64_t short_lived = 0; ///< Ends of connections that time cut.
  uint64_t cut = 0;         ///< Ends of connections that were cut.
};

/// How the name of a server is answered.
enum class naming : uint8_t { found, unknown, silent };

/// A network in memory: any number of machines, each with loops of its own,
/// connected by ordered streams that take time. Faults are set by the port of
/// the server, since all machines have the address 127.0.0.1.
///
/// # Ownership and threads
/// Outlives its machines' transports and everything that uses them. One thread.
class virtual_net {
public:
  /// One machine.
  class machine;

  virtual_net(timeline& time, trace& log);
  ~virtual_net();

  /// @param name Stands in the trace. The machine is there as long as the
  /// network, if only halted.
  std::shared_ptr<machine> add(std::string name, size_t loops);

  /// The way to the server at `port`.
  road& to(uint16_t port) { return roads_[port]; }

  /// Lets go what a stall held back.
  void resume(uint16_t port);

  /// Cuts every open connection to the server at `port`; both ends see a reset.
  size_t cut(uint16_t port);

  void set_naming(const std::string& name, naming how) { names_[name] = how; }

  const road_troubles& troubles(uint16_t port) { return troubles_[port]; }

  /// How often a look-up of the name was answered so, otherwise than it should.
  uint64_t misnamed(const std::string& name, naming how) const {
    const auto i = misnamed_.find({name, how});
    return i == misnamed_.end() ? 0 : i->second;
  }

  /// Whoever writes to a connection, either end of it: its loop, the port of the
  /// server, the number of the connection, and what is written.
  using tap = std::function<void(const virtual_loop& from, uint16_t server,
                                 uint64_t number, std::string_view written)>;

  /// Is told of all that is written from now on.
  void set_tap(tap x) { tap_ = std::move(x); }

  /// A dial of a server, or the look-up of a name, that a machine had to wait
  /// for: its name, the port of the server or else 0, what was looked up, and
  /// how long that took.
  using wait_tap
    = std::function<void(const std::string& machine, uint16_t server,
                         const std::string& name,
                         std::chrono::microseconds took)>;

  /// Is told of each that is over from now on.
  void set_wait_tap(wait_tap x) { wait_tap_ = std::move(x); }

  /// All loops of machines that live.
  const std::vector<virtual_loop*>& loops() const noexcept { return loops_; }

  timeline& time() noexcept { return time_; }

  size_t connections() const;

  /// The longest that a connection of a machine which lives has had bytes that
  /// nobody asks for, counted from `begin` at the earliest; and its server's port.
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
  std::vector<virtual_loop*> loops_; ///< Of machines that live.
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

  /// The machine is gone: its ports are closed, its connections are cut, what
  /// its loops had to do is dropped.
  void halt();

  virtual_loop& loop(size_t i) noexcept { return *loops_[i]; }

  /// Whether that end of a connection is one of its own.
  bool owns(const virtual_stream& x) const;

  /// Drops work that nobody will do any more.
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

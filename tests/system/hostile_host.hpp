#pragma once

#include "tests/support/net_fixture.hpp"
#include "tests/support/net_scripted_server.hpp"
#include "tests/support/net_ws_peer.hpp"
#include "tests/system/live_repo.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tests {

/// A server that sends exactly what a test wants: as directory, PDS, relay or
/// all of them. A request without a script gets 404.
///
/// # Ownership and threads
/// Scripts run on threads of the server and end with it; what they refer to
/// must outlive it. Calls are safe from any thread.
class hostile_host {
public:
  /// The answer to a request: any bytes at any pace, then the end of the
  /// connection.
  /// @param head The complete head of the request.
  using script = std::function<void(raw_peer&, const std::string& head)>;

  hostile_host();

  std::string url() const { return server_.origin(); }

  /// Answers requests whose percent-decoded target begins with `target`; the
  /// longest match wins.
  void on(const std::string& target, script x);

  /// Answers requests for the document of a DID.
  void on_document(const atproto::did& did, script x);

  /// Serves a document with this repo's key that names a PDS.
  void publish(const test_repo& repo, const std::string& pds);

  /// Answers downloads of a repo.
  void on_repo(const atproto::did& did, script x);

  /// Serves the repo in its present state.
  void serve(const test_repo& repo);

  /// Serves the repo in its present state, and a document that names this host.
  void publish_and_serve(const test_repo& repo);

  /// The number of requests whose target began with `target`.
  size_t asked(const std::string& target) const;

  size_t connections() const noexcept { return server_.accepted(); }

private:
  void run(raw_peer& peer);

  mutable std::mutex guard_;
  std::map<std::string, script> scripts_;
  /// Number of requests by complete target.
  std::map<std::string, size_t> asked_;
  scripted_server server_; ///< Last, because its threads use the members above.
};

/// A complete HTTP answer.
/// @param fields Lines, each of which ends with CRLF, in front of
/// Content-Length.
std::string http_answer(int status, std::string_view body,
                        std::string_view fields = {});

/// A script that sends these bytes.
hostile_host::script say(std::string bytes);

/// The document of `did` with one key and one PDS, neither of which must be
/// valid.
std::string make_document(std::string_view did, std::string_view multikey,
                          std::string_view pds);

/// A subscribeRepos stream that a test controls: each frame is sent at once on
/// the connection that is open.
///
/// # Ownership and threads
/// Must outlive the host that has its script. Safe from any thread.
class hostile_stream {
public:
  /// Serves one connection after the other.
  hostile_host::script script();

  /// Sends a frame when there is a connection. False when none came in time, or
  /// it ended.
  bool send(bytes_view frame) { return send(net::ws_opcode::binary, frame); }

  bool send(net::ws_opcode opcode, bytes_view payload);

  /// Sends any bytes.
  bool send_raw(bytes_view wire);

  /// Sent at the start of each connection. Set it before the first one.
  bytes greeting;

  /// Heads of the upgrade requests.
  inbox<std::string> heads;

  /// Close codes of connections that ended; 0: without a close frame.
  inbox<uint16_t> ends;

private:
  std::mutex guard_;
  std::condition_variable opened_;
  raw_peer* socket_ = nullptr;
};

} // namespace weir::tests

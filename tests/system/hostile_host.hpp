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

/// A server that says exactly what a test wants: directory, PDS, relay or all
/// of them. What has no script is answered 404.
///
/// # Ownership and threads
/// Scripts run on threads of the server and end with it; what they refer to
/// outlives it. All calls from any thread.
class hostile_host {
public:
  /// What a request gets: any bytes at any pace, then the end of the
  /// connection.
  /// @param head The whole head of the request.
  using script = std::function<void(raw_peer&, const std::string& head)>;

  hostile_host();

  std::string url() const { return server_.origin(); }

  /// For requests whose percent-decoded target begins so; the longest wins.
  void on(const std::string& target, script x);

  /// The document of a DID.
  void on_document(const atproto::did& did, script x);

  /// A document with this repo's key that names a PDS.
  void publish(const test_repo& repo, const std::string& pds);

  /// The download of a repo.
  void on_repo(const atproto::did& did, script x);

  /// The repo as it is now.
  void serve(const test_repo& repo);

  /// The repo as it is now, and a document that names this host.
  void publish_and_serve(const test_repo& repo);

  /// Requests whose target began so.
  size_t asked(const std::string& target) const;

  size_t connections() const noexcept { return server_.accepted(); }

private:
  void run(raw_peer& peer);

  mutable std::mutex guard_;
  std::map<std::string, script> scripts_;
  std::map<std::string, size_t> asked_; ///< By whole target.
  scripted_server server_;              ///< Last: its threads use the rest.
};

/// An HTTP answer that is whole.
/// @param fields Lines that end with CRLF each, in front of Content-Length.
std::string http_answer(int status, std::string_view body,
                        std::string_view fields = {});

/// Sends this.
hostile_host::script say(std::string bytes);

/// The document of `did` with one key and one PDS; both may be anything.
std::string make_document(std::string_view did, std::string_view multikey,
                          std::string_view pds);

/// subscribeRepos in the hands of a test: what is sent goes out at once on the
/// connection that is open.
///
/// # Ownership and threads
/// Outlives the host that has its script. Any thread.
class hostile_stream {
public:
  /// One connection after the other.
  hostile_host::script script();

  /// Waits for a connection. False when none came, or it ended.
  bool send(bytes_view frame) { return send(net::ws_opcode::binary, frame); }

  bool send(net::ws_opcode opcode, bytes_view payload);

  /// Any bytes on the wire.
  bool send_raw(bytes_view wire);

  /// Goes out at the start of each connection. Set before the first one.
  bytes greeting;

  /// Heads of the upgrades that came.
  inbox<std::string> heads;

  /// Close codes of connections that ended; 0: without a close frame.
  inbox<uint16_t> ends;

private:
  std::mutex guard_;
  std::condition_variable opened_;
  raw_peer* socket_ = nullptr;
};

} // namespace weir::tests

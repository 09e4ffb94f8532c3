#pragma once

#include "net/http_server.hpp"
#include "net/io_threads.hpp"
#include "simnet/alarms.hpp"
#include "simnet/event_log.hpp"
#include "tests/system/realnet_capture.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::tests {

/// The servers of a capture on real sockets. They follow the story as far as it
/// was told: hosts send the recorded frames and serve the repos that those
/// frames produce, and the directory serves the documents of that moment. A
/// repo that has its final state is served as its recorded CAR.
///
/// # Ownership and threads
/// Owns its threads and the data that it serves. One thread tells the story.
class realnet_replay {
public:
  explicit realnet_replay(const realnet_capture& story);
  ~realnet_replay();

  realnet_replay(const realnet_replay&) = delete;
  realnet_replay& operator=(const realnet_replay&) = delete;

  /// Whether an engine that is behind would get another result than the real
  /// one, because the next happening gives a DID another document, which makes
  /// old commits unverifiable, or comes from another host than the one before.
  bool next_needs_rest() const;

  /// Performs the next happening; false at the end.
  bool tell();

  /// Sends a frame that was not in the capture.
  void send(size_t place, int64_t seq, bytes frame) {
    hosts_[place].stream.append(0, seq, shared_bytes{std::move(frame)});
  }

  /// Happenings told so far.
  size_t told() const noexcept { return told_; }

  const std::array<std::string, realnet_capture::hosts>& hosts() const {
    return host_urls_;
  }

  const std::string& directory() const noexcept { return directory_url_; }

  /// The newest seq of a host's stream.
  int64_t newest(size_t place) const { return hosts_[place].stream.newest(); }

  /// The number of fetches of a repo.
  size_t fetches(const std::string& did) const;

  /// The answer of a host's listRepos without a cursor.
  boost::json::array list(size_t place) const;

  /// A text of the capture in which the recorded addresses are replaced by the
  /// present ones.
  std::string present(std::string text) const;

private:
  class service;

  struct repo {
    std::string status; ///< Empty: active.
    atproto::cid head;
    std::string rev;
  };

  struct host {
    host() : stream(simnet::window_options{}) {}

    simnet::event_log stream;
    std::vector<std::string> order; ///< DIDs in the order in which they came.
    std::map<std::string, repo> repos;
  };

  struct document {
    std::string body; ///< Empty: a tombstone.
    std::string handle;
  };

  std::string open(size_t place);
  void tell_frame(const realnet_capture::happening& x);
  void apply(host& at, const std::string& did, const atproto::frame_event& x);
  void keep_blocks(const std::string& did, bytes_view car);
  void write_document(const realnet_capture::happening& x);

  net::http_reply answer(size_t place, const net::incoming_request& request);
  net::http_reply answer_directory(const net::incoming_request& request) const;
  net::http_reply answer_host(size_t place,
                              const net::incoming_request& request);
  net::http_reply get_repo(const std::string& did, const repo& x);

  const realnet_capture& capture_;
  std::array<host, realnet_capture::hosts> hosts_;
  std::array<std::string, realnet_capture::hosts> host_urls_;
  std::string directory_url_;
  size_t told_ = 0;

  mutable std::mutex guard_; ///< Guards the repos above and all members below.
  std::map<std::string, document> documents_;
  std::map<std::string, std::unordered_map<atproto::cid, bytes>> blocks_;
  std::map<std::string, size_t> fetches_;
  std::map<std::string, size_t> speakers_; ///< The host of a DID's last frame.

  net::io_threads threads_{1};
  net::transport_ptr network_;
  std::shared_ptr<simnet::alarms> time_;
  std::vector<std::shared_ptr<net::http_server>> servers_;
};

} // namespace weir::tests

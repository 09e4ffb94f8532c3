#include "actors/upstream/stream_bridge.hpp"

#include "messages/frames.hpp"

#include <caf/send.hpp>

namespace weir::actors {

namespace {

/// Callbacks of the socket become messages.
class bridge final : public net::ws_listener {
public:
  bridge(upstream_actor to, uint64_t connection)
    : to_(std::move(to)), connection_(connection) {}

  void on_open() override { caf::anon_send(to_, stream_opened{connection_}); }

  void on_frames(std::vector<shared_bytes> frames) override {
    caf::anon_send(to_, stream_frames{connection_, std::move(frames)});
  }

  void on_close(const net::ws_close_info& info) override {
    caf::anon_send(
      to_, stream_closed{connection_, info.reason, info.http_status,
                         info.retry_after.value_or(std::chrono::seconds{0})});
    to_ = nullptr;
  }

private:
  upstream_actor to_;
  uint64_t connection_;
};

class client_socket final : public stream_socket {
public:
  explicit client_socket(net::ws_client_ptr client)
    : client_(std::move(client)) {}

  void grant(size_t frames, size_t bytes) override {
    client_->grant(frames, bytes);
  }

  bool is_read() const override { return client_->has_credit(); }

  void close() override { client_->close(); }

private:
  net::ws_client_ptr client_;
};

} // namespace

stream_dialer make_stream_dialer(net::transport_ptr network,
                                 net::ws_client_options options) {
  return [network,
          options](const std::string& origin, std::optional<uint64_t> cursor,
                   uint64_t connection,
                   upstream_actor to) -> std::shared_ptr<stream_socket> {
    auto target = net::parse_url(origin);
    if (!target) {
      caf::anon_send(to, stream_closed{connection, target.error(), 0, {}});
      return nullptr;
    }
    std::string path = "/xrpc/com.atproto.sync.subscribeRepos";
    if (cursor)
      net::append_query(path, "cursor", std::to_string(*cursor));
    auto mine = options;
    mine.target = target->as_websocket().with_target(std::move(path));
    return std::make_shared<client_socket>(
      net::make_ws_client(network, std::move(mine),
                          std::make_shared<bridge>(std::move(to), connection)));
  };
}

} // namespace weir::actors

#pragma once

#include "base/token_bucket.hpp"
#include "net/ws_channel.hpp"
#include "net/ws_session.hpp"

namespace weir::net {

/// The server's end: takes messages at a bounded rate and queues what others
/// send. Made by the HTTP server when an upgrade is accepted.
class ws_session_channel final : public ws_channel {
public:
  /// @param permit Held until the TCP connection is gone.
  ws_session_channel(event_loop& loop, const ws_session_options& options,
                     std::shared_ptr<ws_session_listener> listener,
                     const ip_address& peer, std::shared_ptr<void> permit);

  const ip_address& peer() const noexcept { return peer_; }

private:
  bool ready() override;
  void on_message(ws_decoder::kind kind, shared_bytes payload) override;
  void on_data_frame() override;
  bool on_control_frame() override;
  void on_drained() override;
  void on_over(const ws_close_info& info) override;

  std::shared_ptr<ws_session_listener> listener_;
  ip_address peer_;
  std::shared_ptr<void> permit_;
  token_bucket frames_;
  token_bucket controls_;
  std::unique_ptr<timer> pause_;
};

/// What the application holds.
ws_session_ptr make_ws_session(std::shared_ptr<ws_session_channel> channel);

} // namespace weir::net

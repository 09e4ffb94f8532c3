#pragma once

#include "net/http_client.hpp"
#include "net/ws_client.hpp"
#include "simnet/network.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/unit/simnet/mirror.hpp"

#include <boost/json.hpp>

#include <memory>
#include <string>

namespace weir::tests {

/// The messages of a stream, frame by frame, and its end.
class stream_ear final : public net::ws_listener {
public:
  void on_open() override { opened.push(true); }

  void on_frames(std::vector<shared_bytes> xs) override {
    for (auto& x : xs)
      frames.push(std::move(x));
  }

  void on_close(const net::ws_close_info& info) override { closed.push(info); }

  inbox<bool> opened;
  inbox<shared_bytes> frames;
  inbox<net::ws_close_info> closed;
};

/// A network on real sockets, and clients that see it from outside.
class ServersFixture : public NetFixture {
protected:
  ServersFixture() : ServersFixture(small_network(system_clock())) {
    // nop
  }

  explicit ServersFixture(const simnet::network_options& options);

  /// Sends a GET and follows one redirect.
  net::http_response get(const std::string& url, bool gzip = false);

  /// The error of a GET that must fail before an answer.
  error get_error(const std::string& url);

  net::http_response post(const std::string& url, const std::string& body);

  static boost::json::object json_of(const net::http_response& x);

  /// `base` + "/xrpc/com.atproto." + `rest`.
  static std::string xrpc(const std::string& base, const std::string& rest) {
    return base + "/xrpc/com.atproto." + rest;
  }

  struct connection {
    std::shared_ptr<stream_ear> ear;
    net::ws_client_ptr client;

    /// The next frame, decoded.
    atproto::frame_event next();

    std::vector<shared_bytes> kept;
  };

  connection subscribe(const std::string& base, const std::string& query = "");

  simnet::account_view view(size_t index) { return net.truth().view(index); }

  const std::string& host_url(size_t index) {
    return urls.hosts[view(index).host];
  }

  simnet::network net;
  simnet::network_urls urls;
  net::http_client_ptr client;

private:
  net::http_request make_request(const std::string& url) const;
  result<net::http_response> call(net::http_request x);
};

} // namespace weir::tests

#include "tests/unit/simnet/servers_fixture.hpp"

namespace weir::tests {

ServersFixture::ServersFixture(const simnet::network_options& options)
  : net(options), urls(net.start().value()) {
  net::http_client_options client_options;
  client_options.guard = net::address_guard{true};
  client = make_http_client(network, client_options);
}

net::http_response ServersFixture::get(const std::string& url, bool gzip) {
  auto request = make_request(url);
  request.accept_gzip = gzip;
  const auto out = call(std::move(request));
  EXPECT_TRUE(out) << url << ": " << to_string(out.error());
  return out ? *out : net::http_response{};
}

error ServersFixture::get_error(const std::string& url) {
  const auto out = call(make_request(url));
  EXPECT_FALSE(out) << url;
  return out ? error{} : out.error();
}

net::http_response ServersFixture::post(const std::string& url,
                                        const std::string& body) {
  auto request = make_request(url);
  request.method = "POST";
  request.headers.push_back({"Content-Type", "application/json"});
  request.body = body;
  const auto out = call(std::move(request));
  EXPECT_TRUE(out) << url << ": " << to_string(out.error());
  return out ? *out : net::http_response{};
}

boost::json::object ServersFixture::json_of(const net::http_response& x) {
  boost::json::error_code error;
  const auto out = boost::json::parse(as_text(x.body), error);
  EXPECT_FALSE(error) << as_text(x.body);
  return error ? boost::json::object{} : out.as_object();
}

atproto::frame_event ServersFixture::connection::next() {
  auto frame = ear->frames.pop();
  EXPECT_TRUE(frame) << "no frame came";
  if (!frame)
    return atproto::info_event{};
  kept.push_back(std::move(*frame)); // Events borrow from their frame.
  const auto out = atproto::decode_frame(kept.back().view());
  EXPECT_TRUE(out) << to_string(out.error());
  return out ? *out : atproto::info_event{};
}

ServersFixture::connection ServersFixture::subscribe(const std::string& base,
                                                     const std::string& query) {
  net::ws_client_options options;
  options.target
    = net::parse_url(xrpc(base, "sync.subscribeRepos" + query)).value();
  options.target = options.target.as_websocket();
  options.guard = net::address_guard{true};
  connection out;
  out.ear = std::make_shared<stream_ear>();
  out.client = make_ws_client(network, options, out.ear);
  out.client->grant(1'000'000, size_t{1} << 30);
  EXPECT_TRUE(out.ear->opened.pop());
  return out;
}

net::http_request ServersFixture::make_request(const std::string& url) const {
  net::http_request out;
  out.target = net::parse_url(url).value();
  out.redirects_max = 1;
  out.limits.body_bytes_max = uint64_t{1} << 28;
  return out;
}

result<net::http_response> ServersFixture::call(net::http_request x) {
  inbox<result<net::http_response>> answer;
  client->get(std::move(x), [&answer](result<net::http_response> y) {
    answer.push(std::move(y));
  });
  auto out = answer.pop();
  return out ? std::move(*out)
             : result<net::http_response>{fail(ec::unreachable, "no answer")};
}

} // namespace weir::tests

#include "apps/weir/web_client.hpp"

#include "actors/supervisor/limits.hpp"
#include "atproto/base_encodings.hpp"

#include <algorithm>
#include <future>

namespace weir::apps {

namespace {

/// Passes everything on, and reports the end.
class observed_sink final : public net::http_sink {
public:
  explicit observed_sink(std::shared_ptr<net::http_sink> to)
    : to_(std::move(to)) {}

  bool on_head(const net::http_response_head& head) override {
    return to_->on_head(head);
  }

  void on_body(bytes_view piece) override { to_->on_body(piece); }

  void on_end(result<void> outcome) override {
    to_->on_end(std::move(outcome));
    over.set_value();
  }

  std::promise<void> over;

private:
  std::shared_ptr<net::http_sink> to_;
};

} // namespace

std::unique_ptr<web_client> web_client::make() {
  return std::unique_ptr<web_client>{new web_client};
}

web_client::web_client() : network_(net::make_system_transport(threads_)) {
  net::http_client_options options;
  options.guard = net::address_guard{true};
  if (auto tls = net::tls_client::make())
    options.tls = std::move(*tls);
  client_ = net::make_http_client(network_, std::move(options));
  threads_.start();
}

web_client::~web_client() {
  threads_.stop();
  threads_.join();
}

void web_client::set_password(const std::string& password) {
  std::string text;
  atproto::append_base64(as_bytes("admin:" + password), text);
  text.resize((text.size() + 3) / 4 * 4, '=');
  credential_ = "Basic " + text;
}

result<net::http_response> web_client::ask(const std::string& url,
                                           net::http_request request) {
  auto target = net::parse_url(url);
  if (!target)
    return target.error();
  request.target = std::move(*target);
  if (!credential_.empty())
    request.headers.push_back({"Authorization", credential_});
  std::promise<result<net::http_response>> answer;
  auto waiting = answer.get_future();
  request.limits.body_bytes_max = limits::listing_bytes_max;
  client_->get(std::move(request), [&answer](result<net::http_response> x) {
    answer.set_value(std::move(x));
  });
  return waiting.get();
}

result<net::http_response>
web_client::post(const std::string& url, std::string body,
                 std::chrono::microseconds patience) {
  net::http_request request;
  request.method = "POST";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = std::move(body);
  request.limits.first_byte = patience;
  request.limits.total = std::max(request.limits.total, patience);
  return ask(url, std::move(request));
}

void web_client::stream(net::http_request request,
                        std::shared_ptr<net::http_sink> sink) {
  auto observed = std::make_shared<observed_sink>(std::move(sink));
  auto over = observed->over.get_future();
  client_->stream(std::move(request), std::move(observed));
  over.wait();
}

} // namespace weir::apps

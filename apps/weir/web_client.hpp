#pragma once

#include "net/http_client.hpp"

#include <memory>
#include <string>

namespace weir::net {
class io_threads;
} // namespace weir::net

namespace weir::apps {

/// HTTP for programs that have nothing else to do: calls wait for their
/// answer. Any address may be asked, since a person named it.
///
/// # Ownership and threads
/// Owns its io thread. Any thread but that one may call.
class web_client {
public:
  /// Without the machine's CAs https fails, and http goes on.
  static std::unique_ptr<web_client> make();

  ~web_client();

  /// Basic auth of `admin`, sent with every `get` and `post`.
  void set_password(const std::string& password);

  /// Any status is an answer.
  result<net::http_response> get(const std::string& url);

  /// Posts JSON.
  result<net::http_response> post(const std::string& url, std::string body);

  /// Streams the answer; returns when it has ended.
  /// @param sink Its `on_end` is called before this returns.
  void stream(net::http_request request, std::shared_ptr<net::http_sink> sink);

  const net::transport_ptr& transport() const noexcept;

private:
  struct impl;
  explicit web_client(std::unique_ptr<impl> x) noexcept;
  result<net::http_response> ask(net::http_request request);
  std::unique_ptr<impl> impl_;
};

} // namespace weir::apps

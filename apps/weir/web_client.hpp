#pragma once

#include "net/http_client.hpp"
#include "net/io_threads.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace weir::apps {

/// HTTP for programs with nothing else to do: calls wait for their answer. Any
/// address may be asked, since a person named it.
///
/// # Ownership and threads
/// Owns its io thread. Any other thread may call it.
class web_client {
public:
  /// Without the machine's CA certificates https fails, but http works.
  static std::unique_ptr<web_client> make();

  ~web_client();

  /// Sets the password of `admin` for basic auth in every `get` and `post`.
  void set_password(const std::string& password);

  /// An answer with any status is a result.
  result<net::http_response> get(const std::string& url) {
    return ask(url, {});
  }

  /// Posts JSON.
  /// @param patience How long the answer may take.
  result<net::http_response>
  post(const std::string& url, std::string body,
       std::chrono::microseconds patience = limits::first_byte_timeout);

  /// Streams the answer and returns when it has ended.
  /// @param sink Its `on_end` is called before this returns.
  void stream(net::http_request request, std::shared_ptr<net::http_sink> sink);

  const net::transport_ptr& transport() const noexcept { return network_; }

private:
  web_client();
  result<net::http_response> ask(const std::string& url,
                                 net::http_request request);

  net::io_threads threads_; ///< Outlives what is made on its loops.
  net::transport_ptr network_;
  net::http_client_ptr client_;
  std::string credential_; ///< Empty to send none.
};

} // namespace weir::apps

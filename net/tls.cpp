#include "net/tls.hpp"

#include "net/asio_loop.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl.hpp>

#include <sys/stat.h>

namespace weir::net {

namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

/// One TLS record; parts are packed to this size, since each write becomes at
/// least one record.
constexpr size_t record_bytes_max = 16'384;

/// Follows links, since machines often have a link to their CAs.
bool is_regular(const std::string& path) {
  struct stat x {};
  return ::stat(path.c_str(), &x) == 0 && S_ISREG(x.st_mode);
}

class tls_stream final : public stream,
                         public std::enable_shared_from_this<tls_stream> {
public:
  /// `socket` is the one inside `plain`.
  tls_stream(stream_ptr plain, tcp::socket& socket, ssl::context& context)
    : plain_(std::move(plain)), tls_(socket, context),
      deadline_(plain_->loop().make_timer()) {}

  void connect(const std::string& host, std::chrono::microseconds timeout,
               stream_handler done) {
    auto handle = tls_.native_handle();
    ip_address literal;
    auto address = ip_address::parse(host);
    auto named = address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle),
                                                         host.c_str())
                         : SSL_set1_host(handle, host.c_str());
    if (!address && named == 1)
      named = static_cast<int>(SSL_set_tlsext_host_name(handle, host.c_str()));
    if (named != 1)
      return done(fail(ec::unreachable, "TLS: not a host name: " + host));
    tls_.set_verify_mode(ssl::verify_peer);
    deadline_->start(timeout, [weak = weak_from_this()] {
      if (auto self = weak.lock()) {
        self->timed_out_ = true;
        self->close(false);
      }
    });
    tls_.async_handshake(ssl::stream_base::client,
                         [self = shared_from_this(),
                          done = std::move(done)](const error_code& error) {
                           self->on_connected(error, done);
                         });
  }

  event_loop& loop() noexcept override { return plain_->loop(); }

  const endpoint& remote() const noexcept override { return plain_->remote(); }

  void read_some(std::span<uint8_t> into, io_handler done) override {
    tls_.async_read_some(boost::asio::buffer(into.data(), into.size()),
                         [self = shared_from_this(), done = std::move(done)](
                           const error_code& error, size_t n) {
                           if (error == boost::asio::error::eof)
                             done({}, 0);
                           else
                             done(error, n);
                         });
  }

  void write_some(std::span<const bytes_view> parts, io_handler done) override {
    tls_.async_write_some(boost::asio::buffer(packed(parts)),
                          [self = shared_from_this(), done = std::move(done)](
                            const error_code& error, size_t n) {
                            done(error, n);
                          });
  }

  void shut_down() override {
    tls_.async_shutdown([self = shared_from_this()](const error_code&) {
      self->plain_->shut_down();
    });
  }

  void close(bool reset) noexcept override { plain_->close(reset); }

private:
  void on_connected(const error_code& error, const stream_handler& done) {
    deadline_->cancel();
    if (!error)
      return done(stream_ptr{shared_from_this()});
    close(false);
    auto verified = SSL_get_verify_result(tls_.native_handle());
    auto why = timed_out_              ? std::string{"timed out"}
               : verified != X509_V_OK ? X509_verify_cert_error_string(verified)
                                       : error.message();
    done(fail(ec::unreachable, "TLS handshake: " + why));
  }

  /// The first bytes of `parts` as one block, so that they share a record.
  boost::asio::const_buffer packed(std::span<const bytes_view> parts) {
    if (parts.size() == 1 || parts.front().size() >= record_bytes_max)
      return {parts.front().data(), parts.front().size()};
    record_.clear();
    for (auto& part : parts) {
      auto n = std::min(part.size(), record_bytes_max - record_.size());
      record_.insert(record_.end(), part.begin(),
                     part.begin() + static_cast<ptrdiff_t>(n));
      if (n < part.size())
        break;
    }
    return {record_.data(), record_.size()};
  }

  stream_ptr plain_;
  ssl::stream<tcp::socket&> tls_;
  std::unique_ptr<timer> deadline_;
  bytes record_;
  bool timed_out_ = false;
};

class tls_client_impl final : public tls_client {
public:
  tls_client_impl() : context_(ssl::context::tls_client) {}

  result<void> open(const tls_client_options& options) {
    error_code error;
    SSL_CTX_set_options(context_.native_handle(),
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    if (SSL_CTX_set_min_proto_version(context_.native_handle(), TLS1_2_VERSION)
        != 1)
      return fail(ec::invalid_argument, "TLS: version 1.2 is not available");
    // OpenSSL would wait for a pipe that nobody writes.
    if (!options.ca_file.empty() && !is_regular(options.ca_file))
      return fail(ec::invalid_argument,
                  "ca_file: " + options.ca_file
                    + ": it is no file; give a PEM file with the certificates "
                      "to trust, or leave it out for the machine's");
    if (options.ca_file.empty())
      context_.set_default_verify_paths(error);
    else
      context_.load_verify_file(options.ca_file, error);
    if (error)
      return fail(ec::invalid_argument,
                  options.ca_file.empty()
                    ? "the machine's trusted certificates cannot be read: "
                        + error.message() + "; is ca-certificates installed?"
                    : "ca_file: " + options.ca_file + ": " + error.message()
                        + "; it must be a PEM file with certificates");
    context_.set_verify_mode(ssl::verify_peer, error);
    return {};
  }

  void connect(stream_ptr plain, std::string host,
               std::chrono::microseconds timeout,
               stream_handler done) const override {
    auto socket = tcp_socket(*plain);
    if (!socket)
      return done(fail(ec::unreachable, "TLS needs a real socket"));
    auto x = std::make_shared<tls_stream>(std::move(plain), *socket, context_);
    x->connect(host, timeout, std::move(done));
  }

private:
  // Mutable since OpenSSL counts references in it. Connections only read it.
  mutable ssl::context context_;
};

} // namespace

result<std::shared_ptr<const tls_client>>
tls_client::make(const tls_client_options& options) {
  try {
    auto x = std::make_shared<tls_client_impl>();
    if (auto opened = x->open(options); !opened)
      return opened.error();
    return std::shared_ptr<const tls_client>{std::move(x)};
  } catch (const boost::system::system_error& e) {
    return fail(ec::invalid_argument, std::string{"TLS: "} + e.what());
  }
}

} // namespace weir::net

#pragma once

#include "tests/support/net_raw_peer.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

namespace weir::tests {

template <auto Free>
struct openssl_free {
  template <class T>
  void operator()(T* x) const {
    Free(x);
  }
};

using pkey_ptr = std::unique_ptr<EVP_PKEY, openssl_free<EVP_PKEY_free>>;
using x509_ptr = std::unique_ptr<X509, openssl_free<X509_free>>;

/// A key and its certificate.
struct tls_identity {
  pkey_ptr key;
  x509_ptr certificate;
};

/// The content of a server certificate. Times are in seconds from now.
struct tls_claims {
  std::string subject_names = "DNS:localhost,IP:127.0.0.1";
  long valid_from = -3'600;
  long valid_until = 3'600;
};

/// A certificate authority for tests, with a new key for each object.
class tls_authority {
public:
  tls_authority() : root_(make("Test CA", nullptr, {"", -7'200, 7'200})) {
    // nop
  }

  tls_identity issue(const tls_claims& claims = {}) const {
    return make("server", &root_, claims);
  }

  /// Writes the certificate of the authority as PEM.
  void save(const std::string& path) const {
    std::unique_ptr<FILE, openssl_free<fclose>> file{fopen(path.c_str(), "w")};
    ASSERT_TRUE(file);
    EXPECT_EQ(PEM_write_X509(file.get(), root_.certificate.get()), 1);
  }

private:
  static void extend(X509* x, X509* issuer, int what, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, x, nullptr, nullptr, 0);
    auto extension = X509V3_EXT_conf_nid(nullptr, &context, what, value);
    ASSERT_TRUE(extension) << value;
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
  }

  static tls_identity make(const char* name, const tls_identity* issuer,
                           const tls_claims& claims) {
    tls_identity out{pkey_ptr{EVP_EC_gen("P-256")}, x509_ptr{X509_new()}};
    auto x = out.certificate.get();
    auto by = issuer ? issuer->certificate.get() : x;
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), issuer ? 2 : 1);
    X509_gmtime_adj(X509_getm_notBefore(x), claims.valid_from);
    X509_gmtime_adj(X509_getm_notAfter(x), claims.valid_until);
    X509_set_pubkey(x, out.key.get());
    auto subject = X509_get_subject_name(x);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const uint8_t*>(name), -1, -1,
                               0);
    X509_set_issuer_name(x, X509_get_subject_name(by));
    extend(x, by, NID_basic_constraints,
           issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
    if (issuer)
      extend(x, by, NID_subject_alt_name, claims.subject_names.c_str());
    auto key = issuer ? issuer->key.get() : out.key.get();
    EXPECT_GT(X509_sign(x, key, EVP_sha256()), 0);
    return out;
  }

  tls_identity root_;
};

/// The server's end of TLS on a connection that the test controls.
class tls_peer {
public:
  /// @param version_max For example TLS1_1_VERSION; 0 = the newest.
  tls_peer(raw_peer& socket, const tls_identity& identity, int version_max = 0)
    : context_(SSL_CTX_new(TLS_server_method())) {
    std::signal(SIGPIPE, SIG_IGN); // OpenSSL writes without MSG_NOSIGNAL.
    auto context = context_.get();
    SSL_CTX_set_security_level(context, 0); // Permits old versions.
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, version_max);
    SSL_CTX_use_certificate(context, identity.certificate.get());
    SSL_CTX_use_PrivateKey(context, identity.key.get());
    ssl_.reset(SSL_new(context));
    SSL_set_fd(ssl_.get(), socket.fd());
    open_ = SSL_accept(ssl_.get()) == 1;
  }

  bool open() const noexcept { return open_; }

  /// The server name that the client sent; empty when it sent none.
  std::string server_name() const {
    auto x = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
    return x ? x : "";
  }

  bool send(std::string_view x) {
    return SSL_write(ssl_.get(), x.data(), static_cast<int>(x.size())) > 0;
  }

  /// Reads up to `mark`.
  std::string read_until(std::string_view mark) {
    std::string x;
    char c = 0;
    while (x.find(mark) == x.npos && SSL_read(ssl_.get(), &c, 1) == 1)
      x += c;
    return x;
  }

  void close_notify() { SSL_shutdown(ssl_.get()); }

private:
  std::unique_ptr<SSL_CTX, openssl_free<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, openssl_free<SSL_free>> ssl_;
  bool open_ = false;
};

} // namespace weir::tests

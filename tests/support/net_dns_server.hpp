#pragma once

#include "net/ip_address.hpp"
#include "tests/support/net_scripted_server.hpp"

#include <memory>
#include <vector>

namespace weir::tests {

/// The answer of a test's DNS server to one question.
struct dns_answer {
  std::vector<std::string> records; ///< RDATA, as bytes.
  uint8_t code = 0;                 ///< 3 = no such name.
  bool silent = false;
};

/// RDATA of an address, and of a TXT value that consists of `parts`.
inline std::string dns_address(std::string_view text) {
  auto x = net::ip_address::parse(text);
  EXPECT_TRUE(x) << text;
  auto data = reinterpret_cast<const char*>(x->octets.data());
  return {data, x->v6 ? size_t{16} : size_t{4}};
}

inline std::string dns_text(const std::vector<std::string>& parts) {
  std::string out;
  for (auto& x : parts)
    out += static_cast<char>(x.size()) + x;
  return out;
}

/// A name server on a port of loopback. It has its own threads, and rules run
/// on any of them. An answer that does not fit into 512 bytes is truncated, so
/// that the client asks again over TCP.
class dns_server {
public:
  static constexpr uint16_t type_a = 1;
  static constexpr uint16_t type_txt = 16;
  static constexpr uint16_t type_aaaa = 28;

  using rule_type
    = std::function<dns_answer(const std::string& name, uint16_t type)>;

  /// @param port 0 takes a free port.
  explicit dns_server(rule_type rule, uint16_t port = 0)
    : rule_(std::move(rule)) {
    fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int bound = -1;
    for (int tries = 0; bound != 0 && tries < 100; ++tries) {
      // The port must be free for both; many are taken for TCP, few for UDP.
      tcp_ = std::make_unique<scripted_server>(
        [this](raw_peer& peer, size_t) {
          serve(peer);
        },
        port);
      const auto at = raw_peer::loopback(tcp_->port());
      bound = bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof(at));
    }
    EXPECT_EQ(bound, 0);
    port_ = tcp_->port();
    thread_ = std::thread{[this] {
      run();
    }};
  }

  ~dns_server() {
    stopping_ = true;
    auto to = raw_peer::loopback(port_); // Wakes `recvfrom`.
    sendto(fd_, "", 0, 0, reinterpret_cast<sockaddr*>(&to), sizeof(to));
    thread_.join();
    close(fd_);
  }

  dns_server(const dns_server&) = delete;
  dns_server& operator=(const dns_server&) = delete;

  net::endpoint where() const {
    return {net::ip_address::loopback_v4(), port_};
  }

  size_t questions() const noexcept { return questions_; }

private:
  void run() {
    std::array<char, 1'500> buffer;
    while (!stopping_) {
      sockaddr_in from{};
      socklen_t size = sizeof(from);
      auto n = recvfrom(fd_, buffer.data(), buffer.size(), 0,
                        reinterpret_cast<sockaddr*>(&from), &size);
      if (n < 17)
        continue;
      auto reply = answer({buffer.data(), static_cast<size_t>(n)});
      if (reply.size() > 512) {
        reply.resize(static_cast<size_t>(n));
        reply[2] = static_cast<char>(reply[2] | 2); // Truncated.
        reply[7] = 0;
      }
      if (!reply.empty())
        sendto(fd_, reply.data(), reply.size(), 0,
               reinterpret_cast<sockaddr*>(&from), size);
    }
  }

  void serve(raw_peer& peer) {
    for (;;) {
      auto size = peer.read_exactly(2);
      if (size.size() < 2)
        return;
      auto reply = answer(peer.read_exactly(static_cast<uint8_t>(size[1])));
      peer.send(std::string{static_cast<char>(reply.size() >> 8),
                            static_cast<char>(reply.size() & 0xff)}
                + reply);
    }
  }

  std::string answer(const std::string& question) {
    ++questions_;
    std::string name;
    size_t at = 12;
    while (at < question.size() && question[at] != 0) {
      auto n = static_cast<uint8_t>(question[at]);
      name += (name.empty() ? "" : ".") + question.substr(at + 1, n);
      at += n + size_t{1};
    }
    auto type
      = static_cast<uint16_t>(static_cast<uint8_t>(question[at + 1]) << 8
                              | static_cast<uint8_t>(question[at + 2]));
    auto said = rule_(name, type);
    if (said.silent)
      return {};
    auto count = static_cast<char>(said.records.size());
    auto out = question.substr(0, 2) + "\x81"
               + static_cast<char>(0x80 | said.code) + std::string{"\0\1\0", 3}
               + count + std::string(4, '\0')
               + question.substr(12, at + 5 - 12);
    for (auto& x : said.records)
      out += std::string{"\xc0\x0c", 2} + question.substr(at + 1, 4)
             + std::string(4, '\0') + static_cast<char>(x.size() >> 8)
             + static_cast<char>(x.size() & 0xff) + x;
    return out;
  }

  rule_type rule_;
  int fd_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<size_t> questions_ = 0;
  std::thread thread_;
  std::unique_ptr<scripted_server> tcp_;
};

} // namespace weir::tests

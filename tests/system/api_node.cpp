#include "tests/system/api_node.hpp"

#include "tests/support/private_file.hpp"

#include <boost/json.hpp>

#include <charconv>
#include <stdexcept>
#include <utility>

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

uint16_t port_of(const boost::json::object& ready, std::string_view key) {
  const std::string url{ready.at(key).as_string()};
  return static_cast<uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

std::string on_the_wire(const plain_request& x, uint16_t port) {
  auto out = x.method + ' ' + x.path + " HTTP/1.1\r\n";
  auto headers = x.headers;
  headers.try_emplace("Host", "127.0.0.1:" + std::to_string(port));
  if (!headers.contains("Upgrade"))
    headers.try_emplace("Connection", "close");
  if (x.method == "POST")
    headers.try_emplace("Content-Length", std::to_string(x.body.size()));
  for (const auto& [name, value] : headers)
    if (!value.empty())
      out += name + ": " + value + "\r\n";
  return out + "\r\n" + x.body;
}

} // namespace

api_node::api_node(bool with_password,
                   std::vector<std::string> more_arguments)
  : arguments_{"run",         "--data-dir",  dir_.at("data"), "--bind",
               "127.0.0.1:0", "--log-level", "warn"} {
  if (with_password) {
    write_private(dir_.at("password"), std::string{password} + '\n');
    arguments_.insert(arguments_.end(),
                      {"--admin-password-file", dir_.at("password")});
  }
  std::move(more_arguments.begin(), more_arguments.end(),
            std::back_inserter(arguments_));
  start();
}

api_node::~api_node() {
  check_memory();
}

void api_node::check_memory() const {
  const auto peak = process_->peak_bytes();
  EXPECT_GT(peak, 0u) << "the node has ended";
  EXPECT_LT(peak, bytes_before_ + growth_bytes_max_ + memory_slack);
}

void api_node::restart(int signal) {
  check_memory();
  process_->send(signal);
  EXPECT_TRUE(process_->wait(node_patience));
  start();
}

void api_node::start() {
  process_ = std::make_unique<program>(arguments_);
  const auto line = process_->read_line(60s);
  if (!line)
    throw std::runtime_error("no ready line: " + process_->errors());
  ready_line_ = *line;
  const auto ready = boost::json::parse(ready_line_).as_object();
  data = port_of(ready, "data");
  operations = port_of(ready, "operations");
  bytes_before_ = process_->resident_bytes();
}

plain_reply api_node::ask(uint16_t port, const plain_request& x,
                          const char* source) const {
  auto peer = raw_peer::dial(port, source);
  peer.send(on_the_wire(x, port));
  plain_reply out;
  constexpr std::chrono::milliseconds longest_wait = node_patience;
  out.head
    = peer.read_until("\r\n\r\n", static_cast<int>(longest_wait.count()));
  if (out.head.size() < 12)
    return out;
  const auto* digits = out.head.data() + 9;
  std::from_chars(digits, digits + 3, out.status);
  constexpr std::string_view length = "\r\nContent-Length: ";
  if (const auto at = out.head.find(length); at != std::string::npos)
    out.body = peer.read_exactly(std::stoul(out.head.substr(at
                                                            + length.size())));
  return out;
}

plain_request api_node::upgrade(const std::string& path,
                                std::map<std::string, std::string> more) {
  plain_request out;
  out.path = path;
  out.headers = std::move(more);
  out.headers["Upgrade"] = "websocket";
  out.headers["Connection"] = "Upgrade";
  out.headers["Sec-WebSocket-Version"] = "13";
  out.headers["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ==";
  return out;
}

} // namespace weir::tests

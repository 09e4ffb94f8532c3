#include "tests/system/default_node.hpp"

#include "apps/demo/evidence.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <stdexcept>

namespace weir::tests {

namespace json = boost::json;

default_node::default_node(const std::string& data_dir,
                           const simnet::network_urls& urls,
                           const std::vector<size_t>& hosts,
                           std::vector<std::string> more) {
  std::vector<std::string> arguments{"run",
                                     "--data-dir",
                                     data_dir,
                                     "--bind",
                                     "127.0.0.1:0",
                                     "--plc-url",
                                     urls.plc,
                                     "--handle-resolver-url",
                                     urls.plc,
                                     "--allow-private-addresses",
                                     "--mode",
                                     "full-network"};
  for (const auto host : hosts)
    arguments.insert(arguments.end(),
                     {"--upstream", "pds:" + urls.hosts.at(host)});
  arguments.insert(arguments.end(), more.begin(), more.end());
  process_ = std::make_unique<program>(arguments);
  const auto line = process_->read_line(node_patience);
  if (!line)
    throw std::runtime_error("no ready line: " + process_->errors());
  at_ = parse_ready(*line);
}

std::string default_node::get(const std::string& url) {
  const auto answer = web_->get(url);
  if (!answer)
    throw std::runtime_error(url + ": " + to_string(answer.error()));
  return std::string{as_text(answer->body)};
}

size_t default_node::synced(const simnet::truth& truth,
                            const std::vector<size_t>& which) {
  return static_cast<size_t>(std::ranges::count_if(which, [&](size_t index) {
    const auto account = truth.view(index);
    const auto x
      = json::parse(get(at_.data + "/repos/" + account.id.str())).as_object();
    const auto* status = x.if_contains("status");
    return status && *status == "synced"
           && x.at("rev").as_string() == account.rev.str();
  }));
}

uint64_t default_node::metric(std::string_view name) {
  const auto page = get(at_.operations + "/metrics");
  if (page.find('\n' + std::string{name} + ' ') == std::string::npos)
    throw std::runtime_error("no metric " + std::string{name});
  return apps::metric_total(page, name);
}

void default_node::remove(const std::vector<std::string>& dids) {
  const auto answer = web_->post(
    at_.data + "/repos/remove",
    json::serialize(json::object{{"dids", json::value_from(dids)}}));
  if (!answer || answer->status != 200)
    throw std::runtime_error("/repos/remove is refused");
}

void default_node::stop() {
  process_->send(SIGTERM);
  EXPECT_EQ(process_->wait(node_patience), 0) << tail_of(process_->errors());
}

size_t bytes_of_directory(const std::string& path) {
  size_t out = 0;
  // Files may be created and removed during the loop.
  std::error_code ignored;
  for (const auto& x :
       std::filesystem::recursive_directory_iterator{path, ignored}) {
    const auto size = x.file_size(ignored);
    out += ignored ? 0 : size;
  }
  return out;
}

} // namespace weir::tests

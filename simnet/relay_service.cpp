#include "net/url.hpp"
#include "simnet/services.hpp"
#include "simnet/sync_reads.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <string>

namespace weir::simnet {

namespace {

namespace json = boost::json;

constexpr std::string_view xrpc = "/xrpc/";

std::string_view host_name(std::string_view origin) {
  const auto at = origin.find("://");
  return at == std::string_view::npos ? origin : origin.substr(at + 3);
}

json::object describe_host(const site& where, size_t host) {
  size_t accounts = 0;
  for (size_t i = 0; i < where.facts.accounts(); ++i)
    accounts += where.facts.view(i).host == host;
  return {{"hostname", host_name(where.host_urls[host])},
          {"seq", where.facts.host_log(host).newest()},
          {"accountCount", accounts},
          {"status", "active"}};
}

net::http_reply redirect(std::string to) {
  net::http_reply out;
  out.status = 302;
  out.headers.push_back({"Location", std::move(to)});
  return out;
}

class relay_service final : public net::http_service {
public:
  explicit relay_service(const site& where)
    : site_(where), look_(seen_from_relay) {}

  void on_request(net::incoming_request request,
                  net::responder answer) override {
    if (request.method == "POST"
        && request.path == "/xrpc/com.atproto.sync.requestCrawl")
      return answer.send(net::json_reply(200, "{}"));
    if (request.method != "GET" && request.method != "HEAD")
      return answer.send(
        net::error_reply(405, "MethodNotAllowed", "Method Not Allowed"));
    answer.send(read(request));
  }

  void on_upgrade(net::incoming_request request,
                  net::upgrader answer) override {
    if (request.path != "/xrpc/com.atproto.sync.subscribeRepos")
      return answer.reject(net::error_reply(404, "NotFound", "No such stream"));
    open_subscription(request, answer, *site_.facts.relay_log(), site_.time);
  }

private:
  net::http_reply read(const net::incoming_request& request) const {
    const std::string_view path = request.path;
    if (!path.starts_with(xrpc))
      return net::error_reply(404, "NotFound", "No such page");
    const auto method = path.substr(xrpc.size());
    if (method == "_health")
      return health(site_);
    if (method == "com.atproto.sync.listRepos")
      return list_repos(request, site_, look_);
    if (method == "com.atproto.sync.listReposByCollection")
      return list_repos_by_collection(request, site_, look_);
    if (method == "com.atproto.sync.listHosts")
      return list_hosts(request);
    if (method == "com.atproto.sync.getHostStatus")
      return host_status(request);
    return read_account(request, method);
  }

  net::http_reply read_account(const net::incoming_request& request,
                               std::string_view method) const {
    const auto latest = method == "com.atproto.sync.getLatestCommit";
    const auto repo = method == "com.atproto.sync.getRepo";
    if (!latest && !repo && method != "com.atproto.sync.getRepoStatus")
      return net::error_reply(501, "MethodNotImplemented",
                              "Method Not Implemented");
    const auto found = find_account(request, site_, look_);
    if (!found.account)
      return found.refusal;
    if (latest)
      return get_latest_commit(*found.account);
    if (!repo)
      return get_repo_status(*found.account);
    if (auto refusal = refuse_inactive(*found.account))
      return *refusal;
    std::string target = "/xrpc/com.atproto.sync.getRepo";
    net::append_query(target, "did", found.account->id.str());
    return redirect(site_.host_urls[found.account->host] + target);
  }

  net::http_reply list_hosts(const net::incoming_request& request) const {
    const auto* cursor = request.parameter("cursor");
    const auto limit = size_parameter(request, "limit", 200, 1000);
    auto next = cursor ? size_parameter(request, "cursor", 0, SIZE_MAX) : 0;
    json::array hosts;
    for (; next < site_.facts.hosts() && hosts.size() < limit; ++next)
      hosts.push_back(describe_host(site_, next));
    json::object out;
    if (next < site_.facts.hosts())
      out["cursor"] = std::to_string(next);
    out["hosts"] = std::move(hosts);
    return ok_reply(out);
  }

  net::http_reply host_status(const net::incoming_request& request) const {
    const auto* name = request.parameter("hostname");
    if (!name)
      return invalid_request(
        "Error: Params must have the property \"hostname\"");
    const auto& urls = site_.host_urls;
    const auto at = std::ranges::find(urls, *name, host_name);
    if (at == urls.end())
      return net::error_reply(400, "HostNotFound", "Host not found: " + *name);
    const auto host = static_cast<size_t>(at - urls.begin());
    return ok_reply(describe_host(site_, host));
  }

  const site& site_;
  const lens look_;
};

} // namespace

std::shared_ptr<net::http_service> make_relay_service(const site& where) {
  return std::make_shared<relay_service>(where);
}

} // namespace weir::simnet

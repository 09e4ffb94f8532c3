#include "simnet/gzip.hpp"
#include "simnet/hostile_hosts.hpp"
#include "simnet/services.hpp"
#include "simnet/slow_bodies.hpp"
#include "simnet/sync_reads.hpp"

#include <string>
#include <utility>

namespace weir::simnet {

namespace {

constexpr std::string_view xrpc = "/xrpc/";
constexpr std::string_view get_repo_method = "com.atproto.sync.getRepo";
constexpr std::string_view stream_path
  = "/xrpc/com.atproto.sync.subscribeRepos";

net::http_reply car_reply(shared_bytes car) {
  net::http_reply out;
  out.content_type = "application/vnd.ipld.car";
  out.body = std::move(car);
  return out;
}

bool accepts_gzip(const net::incoming_request& request) {
  const auto* wanted = request.header("accept-encoding");
  return wanted && wanted->find("gzip") != std::string::npos;
}

net::http_reply unavailable() {
  return net::error_reply(503, "ServiceUnavailable", "Service Unavailable");
}

const std::string& did_parameter(const net::incoming_request& request) {
  static const std::string none;
  const auto* did = request.parameter("did");
  return did ? *did : none;
}

/// One host: repositories, records, handles, and the stream of its accounts. It
/// answers as the reference server does.
class pds_service final : public net::http_service {
public:
  pds_service(const site& where, size_t host)
    : site_(where), host_(host), look_([host](const account_view& x) {
        return seen_from(x, host);
      }) {}

  void on_request(net::incoming_request request,
                  net::responder answer) override {
    const std::string_view path = request.path;
    if (path == "/.well-known/atproto-did")
      return answer.send(well_known_did(request, site_));
    if (!path.starts_with(xrpc))
      return answer.send(net::error_reply(404, "NotFound", "No such page"));
    if (request.method != "GET" && request.method != "HEAD")
      return answer.send(
        net::error_reply(401, "AuthMissing", "Authentication Required"));
    const auto method = path.substr(xrpc.size());
    if (site_.faults.take(fault_kind::host_hang, host_, did_parameter(request)))
      return never_answer(answer);
    if (auto reply = misbehave(request, method))
      return answer.send(std::move(*reply));
    if (method == get_repo_method)
      return send_repo(request, answer);
    answer.send(read(request, method));
  }

  void on_upgrade(net::incoming_request request,
                  net::upgrader answer) override {
    if (request.path != stream_path)
      return answer.reject(net::error_reply(404, "NotFound", "No such stream"));
    if (site_.faults.take(fault_kind::host_hang, host_, {}))
      return never_answer(answer);
    if (site_.faults.take(fault_kind::host_down, host_, {}))
      return answer.reject(unavailable());
    open_subscription(request, answer, site_.facts.host_log(host_), site_.time);
  }

private:
  /// After this time the client gets an error of the server itself.
  template <class Answer>
  void never_answer(const Answer& x) const {
    site_.time->after(std::chrono::hours{24}, [x] {});
  }

  /// Everything except getRepo, which may take time.
  net::http_reply read(const net::incoming_request& request,
                       std::string_view method) const {
    if (method == "_health")
      return health(site_);
    if (method == "com.atproto.sync.listRepos")
      return list(request);
    if (method == "com.atproto.sync.getRecord")
      return get_proof(request);
    if (method == "com.atproto.repo.describeRepo")
      return describe_repo(request, site_, look_);
    if (method == "com.atproto.repo.listRecords")
      return list_records(request, site_, look_);
    if (method == "com.atproto.repo.getRecord")
      return get_record(request, site_, look_);
    if (method == "com.atproto.identity.resolveHandle")
      return resolve_handle(request, site_);
    const auto latest = method == "com.atproto.sync.getLatestCommit";
    if (latest || method == "com.atproto.sync.getRepoStatus") {
      const auto found = find_account(request, site_, look_);
      if (!found.account)
        return found.refusal;
      return latest ? get_latest_commit(*found.account)
                    : repo_status(*found.account);
    }
    // Also the answer for unknown calls, and for a stream without upgrade.
    return net::error_reply(401, "AuthMissing", "Authentication Required");
  }

  net::http_reply list(const net::incoming_request& request) const {
    if (site_.hostile)
      if (auto invented = site_.hostile->list(host_, request))
        return *invented;
    const lens look = [this](const account_view& x) {
      auto out = look_(x);
      if (out
          && site_.faults.take(fault_kind::unlisted_repo, host_, x.id.str()))
        out.reset();
      return out;
    };
    return list_repos(request, site_, look);
  }

  net::http_reply repo_status(const account_view& x) const {
    if (!site_.faults.take(fault_kind::false_status, host_, x.id.str()))
      return get_repo_status(x);
    auto lie = x;
    lie.status = x.served() ? standing::deactivated : standing::active;
    return get_repo_status(lie);
  }

  std::optional<net::http_reply> misbehave(const net::incoming_request& request,
                                           std::string_view method) const {
    const auto& did = did_parameter(request);
    if (site_.faults.take(fault_kind::host_down, host_, did))
      return unavailable();
    if (method.starts_with("com.atproto.sync."))
      if (const auto x
          = site_.faults.take(fault_kind::rate_limit, host_, did)) {
        auto out
          = net::error_reply(429, "RateLimitExceeded", "Rate Limit Exceeded");
        add_retry_after(out, x->time);
        return out;
      }
    const auto of_one = method == get_repo_method
                        || method == "com.atproto.sync.getLatestCommit"
                        || method == "com.atproto.sync.getRepoStatus";
    if (of_one && site_.faults.take(fault_kind::missing_repo, host_, did))
      return net::error_reply(400, "RepoNotFound",
                              "Could not find repo for DID: " + did);
    if (method == get_repo_method
        && site_.faults.take(fault_kind::failing_repo, host_, did))
      return net::error_reply(500, "InternalServerError",
                              "Internal Server Error");
    return std::nullopt;
  }

  void send_repo(const net::incoming_request& request,
                 const net::responder& answer) const {
    const auto& did = did_parameter(request);
    const auto endless
      = site_.faults.take(fault_kind::endless_repo, host_, did);
    const auto hostile = site_.hostile && site_.hostile->kind(host_);
    auto reply = get_repo(request, !endless && !hostile);
    if (reply.status != 200)
      return answer.send(std::move(reply));
    if (hostile)
      site_.hostile->spoil(host_, reply);
    if (endless)
      reply.rest = unlinked_blocks(0, std::nullopt, nullptr);
    else if (const auto x
             = site_.faults.take(fault_kind::trickle_repo, host_, did))
      reply.rest = at_rate(std::exchange(reply.body, {}), x->bytes_per_second);
    if (site_.faults.take(fault_kind::cut_repo, host_, did))
      reply.cut_after_bytes = reply.body.size() / 2;
    const auto slow = site_.faults.take(fault_kind::slow_repo, host_, did);
    if (!slow)
      return answer.send(std::move(reply));
    site_.time->after(slow->time, [answer, reply = std::move(reply)] {
      answer.send(reply);
    });
  }

  /// @param whole True when nothing follows the body, so it may be compressed.
  net::http_reply get_repo(const net::incoming_request& request,
                           bool whole) const {
    const auto found = find_account(request, site_, look_);
    if (!found.account)
      return found.refusal;
    if (auto refusal = refuse_inactive(*found.account))
      return *refusal;
    const auto index = found.account->index;
    auto car = site_.facts.export_car(index);
    if (const auto x = site_.faults.take(fault_kind::stale_repo, host_,
                                         found.account->id.str());
        x && index < x->repositories->size())
      car = (*x->repositories)[index];
    if (!whole || !site_.gzip || !accepts_gzip(request))
      return car_reply(std::move(car));
    auto out = car_reply(shared_bytes{gzip(car.view())});
    out.headers.push_back({"Content-Encoding", "gzip"});
    return out;
  }

  net::http_reply get_proof(const net::incoming_request& request) const {
    const auto found = find_account(request, site_, look_);
    if (!found.account)
      return found.refusal;
    if (auto refusal = refuse_inactive(*found.account))
      return *refusal;
    const auto* collection = request.parameter("collection");
    const auto* rkey = request.parameter("rkey");
    if (!collection || !rkey)
      return invalid_request("Error: Params must have the properties "
                             "\"collection\" and \"rkey\"");
    auto car
      = site_.facts.prove(found.account->index, *collection + "/" + *rkey);
    if (car.empty())
      return net::error_reply(501, "MethodNotImplemented", "Not here");
    return car_reply(shared_bytes{std::move(car)});
  }

  const site& site_;
  const size_t host_;
  const lens look_;
};

} // namespace

std::shared_ptr<net::http_service> make_pds_service(const site& where,
                                                    size_t host) {
  return std::make_shared<pds_service>(where, host);
}

} // namespace weir::simnet

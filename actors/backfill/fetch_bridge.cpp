#include "actors/backfill/fetch_bridge.hpp"

#include "actors/backfill/limits.hpp"

#include <caf/send.hpp>

namespace weir::actors {

namespace {

class sink final : public net::http_sink {
public:
  explicit sink(backfill_actor to) : to_(std::move(to)) {}

  bool on_head(const net::http_response_head& head) override {
    fetch_head out{head.status, head.wait()};
    if (const auto* type = net::find_header(head.headers, "content-type"))
      out.content_type = type->substr(0, limits::fetch_type_bytes_max);
    caf::anon_send(to_, std::move(out));
    return true;
  }

  void on_body(bytes_view piece) override {
    caf::anon_send(to_, fetch_bytes{shared_bytes::copy_of(piece)});
  }

  void on_end(result<void> outcome) override {
    caf::anon_send(to_, fetch_ended{std::move(outcome)});
    to_ = nullptr;
  }

private:
  backfill_actor to_;
};

} // namespace

repo_fetcher make_repo_fetcher(net::http_client_ptr client,
                               uint64_t bytes_max) {
  return [client, bytes_max](const std::string& pds, const atproto::did& repo,
                             backfill_actor to) -> net::http_call_ptr {
    auto target = net::parse_url(pds);
    if (!target) {
      caf::anon_send(to, fetch_ended{target.error()});
      return nullptr;
    }
    std::string path = "/xrpc/com.atproto.sync.getRepo";
    net::append_query(path, "did", repo.str());
    net::http_request request;
    request.target = target->with_target(std::move(path));
    request.headers.push_back({"Accept", "application/vnd.ipld.car"});
    request.accept_gzip = true;
    request.limits.body_bytes_max = bytes_max;
    request.limits.total = limits::repo_fetch_timeout;
    request.credit = 0;
    return client->stream(std::move(request),
                          std::make_shared<sink>(std::move(to)));
  };
}

} // namespace weir::actors

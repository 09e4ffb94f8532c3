#include "tests/system/realnet_replay.hpp"

#include "atproto/car.hpp"
#include "simnet/services.hpp"

#include <algorithm>

namespace weir::tests {

namespace {

namespace json = boost::json;

using atproto::cid;

/// The directory's place is after the hosts.
constexpr size_t directory_place = realnet_capture::hosts;

net::http_reply refuse(int status, std::string_view name) {
  return net::error_reply(status, name, name);
}

net::http_reply ok(const json::value& x) {
  return net::json_reply(200, json::serialize(x));
}

/// The refusal of a repo with this status, which is not served.
net::http_reply refuse_repo(const std::string& status) {
  if (status == "takendown")
    return refuse(400, "RepoTakendown");
  if (status == "deactivated")
    return refuse(400, "RepoDeactivated");
  return refuse(400, "RepoNotFound");
}

std::string parameter(const net::incoming_request& request,
                      std::string_view name) {
  const auto* found = request.parameter(name);
  return found == nullptr ? "" : *found;
}

} // namespace

class realnet_replay::service final : public net::http_service {
public:
  service(realnet_replay& owner, size_t place) : owner_(owner), place_(place) {
    // nop
  }

  void on_request(net::incoming_request request,
                  net::responder answer) override {
    answer.send(owner_.answer(place_, request));
  }

  void on_upgrade(net::incoming_request request,
                  net::upgrader answer) override {
    if (place_ == directory_place
        || request.path != "/xrpc/com.atproto.sync.subscribeRepos")
      return answer.reject(refuse(404, "NotFound"));
    simnet::open_subscription(request, answer, owner_.hosts_[place_].stream,
                              owner_.time_);
  }

private:
  realnet_replay& owner_;
  const size_t place_;
};

realnet_replay::realnet_replay(const realnet_capture& story)
  : capture_(story), network_(net::make_system_transport(threads_)),
    time_(simnet::alarms::make(threads_.loop(0))) {
  for (size_t i = 0; i < host_urls_.size(); ++i)
    host_urls_[i] = open(i);
  directory_url_ = open(directory_place);
  threads_.start();
}

realnet_replay::~realnet_replay() {
  for (auto& x : hosts_)
    x.stream.cut();
  servers_.clear();
  threads_.stop();
  threads_.join();
}

std::string realnet_replay::open(size_t place) {
  net::http_server_options options;
  options.at = {net::ip_address::loopback_v4(), 0};
  servers_.push_back(
    net::make_http_server(network_, std::make_shared<service>(*this, place),
                          options)
      .value());
  return "http://" + to_string(servers_.back()->local());
}

// -- the story ----------------------------------------------------------------

bool realnet_replay::next_needs_rest() const {
  if (told_ == capture_.story.size())
    return false;
  const auto& next = capture_.story[told_];
  const std::lock_guard lock{guard_};
  if (!next.is_frame())
    return documents_.contains(next.did);
  const auto last = speakers_.find(next.did);
  return last != speakers_.end() && last->second != next.host;
}

bool realnet_replay::tell() {
  if (told_ == capture_.story.size())
    return false;
  const auto& x = capture_.story[told_++];
  if (x.is_frame())
    tell_frame(x);
  else
    write_document(x);
  return true;
}

void realnet_replay::tell_frame(const realnet_capture::happening& x) {
  auto& at = hosts_[x.host];
  const auto event = atproto::decode_frame(x.frame.view()).value();
  {
    const std::lock_guard lock{guard_};
    apply(at, x.did, event);
    speakers_[x.did] = x.host;
  }
  at.stream.append(0, x.seq, x.frame);
}

void realnet_replay::apply(host& at, const std::string& did,
                           const atproto::frame_event& event) {
  const auto [found, is_new] = at.repos.try_emplace(did);
  auto& known = found->second;
  if (is_new)
    at.order.push_back(did);
  if (const auto* commit = std::get_if<atproto::commit_event>(&event)) {
    keep_blocks(did, commit->blocks);
    known.head = commit->commit;
    known.rev = commit->rev.str();
  } else if (const auto* sync = std::get_if<atproto::sync_event>(&event)) {
    keep_blocks(did, sync->blocks);
    known.head = atproto::car_slice::parse(sync->blocks)->roots().front();
    known.rev = sync->rev.str();
  } else if (const auto* x = std::get_if<atproto::account_event>(&event)) {
    known.status = x->active ? "" : x->status;
  }
}

void realnet_replay::keep_blocks(const std::string& did, bytes_view car) {
  const auto slice = atproto::car_slice::parse(car).value();
  for (const auto& x : slice.blocks())
    blocks_[did].try_emplace(x.id, x.data.begin(), x.data.end());
}

std::string realnet_replay::present(std::string text) const {
  for (size_t i = 0; i < host_urls_.size(); ++i)
    if (const auto at = text.find(capture_.urls[i]); at != std::string::npos)
      text.replace(at, capture_.urls[i].size(), host_urls_[i]);
  return text;
}

/// Stores the document that results from an operation.
void realnet_replay::write_document(const realnet_capture::happening& x) {
  document made;
  if (x.operation.at("type") != "plc_tombstone") {
    constexpr std::string_view prefix = "did:key:";
    const auto& keys = x.operation.at("verificationMethods").as_object();
    const auto& pds = x.operation.at("services").at("atproto_pds").as_object();
    const auto names = x.operation.at("alsoKnownAs").as_array();
    made.handle = json::value_to<std::string>(names.at(0)).substr(5);
    made.body = json::serialize(json::object{
      {"id", x.did},
      {"alsoKnownAs", names},
      {"verificationMethod",
       json::array{json::object{
         {"id", x.did + "#atproto"},
         {"type", "Multikey"},
         {"controller", x.did},
         {"publicKeyMultibase",
          keys.at("atproto").as_string().subview(prefix.size())}}}},
      {"service", json::array{json::object{
                    {"id", "#atproto_pds"},
                    {"type", pds.at("type")},
                    {"serviceEndpoint", present(json::value_to<std::string>(
                                          pds.at("endpoint")))}}}}});
  }
  const std::lock_guard lock{guard_};
  documents_[x.did] = std::move(made);
}

// -- answers ------------------------------------------------------------------

net::http_reply realnet_replay::answer(size_t place,
                                       const net::incoming_request& request) {
  const std::lock_guard lock{guard_};
  return place == directory_place ? answer_directory(request)
                                  : answer_host(place, request);
}

net::http_reply
realnet_replay::answer_directory(const net::incoming_request& request) const {
  if (request.path == "/xrpc/com.atproto.identity.resolveHandle") {
    const auto handle = parameter(request, "handle");
    for (const auto& [did, x] : documents_)
      if (x.handle == handle)
        return ok(json::object{{"did", did}});
    return refuse(400, "InvalidRequest");
  }
  const auto found = documents_.find(request.path.substr(1));
  if (found == documents_.end())
    return refuse(404, "NotFound");
  if (found->second.body.empty())
    return refuse(410, "Gone");
  return net::json_reply(200, found->second.body);
}

net::http_reply
realnet_replay::answer_host(size_t place,
                            const net::incoming_request& request) {
  const std::string_view path = request.path;
  if (path == "/xrpc/com.atproto.sync.listRepos") {
    const auto page = parameter(request, "cursor").empty();
    json::object out{{"repos", page ? list(place) : json::array{}}};
    if (page)
      out["cursor"] = "end";
    return ok(out);
  }
  const auto did = parameter(request, "did");
  const auto found = hosts_[place].repos.find(did);
  if (!path.starts_with("/xrpc/com.atproto.sync."))
    return refuse(401, "AuthMissing");
  if (found == hosts_[place].repos.end() || found->second.status == "deleted")
    return refuse(400, "RepoNotFound");
  const auto& x = found->second;
  if (path.ends_with(".getRepo"))
    return get_repo(did, x);
  if (path.ends_with(".getRepoStatus"))
    return ok(
      x.status.empty()
        ? json::object{{"did", did}, {"active", true}, {"rev", x.rev}}
        : json::object{{"did", did}, {"active", false}, {"status", x.status}});
  if (path.ends_with(".getLatestCommit") && x.status.empty())
    return ok(json::object{{"cid", x.head.to_text()}, {"rev", x.rev}});
  return x.status.empty() ? refuse(401, "AuthMissing") : refuse_repo(x.status);
}

net::http_reply realnet_replay::get_repo(const std::string& did,
                                         const repo& x) {
  if (!x.status.empty())
    return refuse_repo(x.status);
  ++fetches_[did];
  net::http_reply out;
  out.content_type = "application/vnd.ipld.car";
  const auto& final = capture_.accounts.at(did);
  if (x.head.to_text() == final.head && !final.car.empty()) {
    out.body = shared_bytes::copy_of(final.car);
    return out;
  }
  atproto::car_writer car{std::span{&x.head, 1}};
  for (const auto& [id, block] : blocks_[did])
    car.add(id, block);
  out.body = shared_bytes{car.take()};
  return out;
}

size_t realnet_replay::fetches(const std::string& did) const {
  const std::lock_guard lock{guard_};
  const auto found = fetches_.find(did);
  return found == fetches_.end() ? 0 : found->second;
}

json::array realnet_replay::list(size_t place) const {
  json::array out;
  const auto& at = hosts_[place];
  for (const auto& did : at.order) {
    const auto& x = at.repos.at(did);
    if (x.status == "deleted")
      continue;
    json::object line{{"did", did},
                      {"head", x.head.to_text()},
                      {"rev", x.rev},
                      {"active", x.status.empty()}};
    if (!x.status.empty())
      line["status"] = x.status;
    out.push_back(std::move(line));
  }
  return out;
}

} // namespace weir::tests

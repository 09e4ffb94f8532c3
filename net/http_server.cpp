#include "net/http_connection.hpp"

namespace weir::net {

std::shared_ptr<server_core::permit>
server_core::admit(std::shared_ptr<server_core> core, const ip_address& peer) {
  std::function<void()> cut_victim;
  std::optional<uint64_t> place;
  {
    std::lock_guard guard{core->mutex_};
    if (core->closed_)
      return nullptr;
    const auto found = core->places_.admit(peer);
    if (found.victim)
      if (auto x = core->open_.extract(*found.victim); !x.empty())
        cut_victim = std::move(x.mapped());
    place = found.place;
    if (place)
      core->open_.emplace(*place, nullptr);
  }
  if (cut_victim)
    cut_victim();
  return place ? std::make_shared<permit>(core, *place) : nullptr;
}

server_core::permit::~permit() {
  std::lock_guard guard{core_->mutex_};
  core_->open_.erase(id_);
  core_->places_.give_back(id_);
}

bool server_core::permit::set_cut(std::function<void()> x) {
  std::lock_guard guard{core_->mutex_};
  const auto own = core_->open_.find(id_);
  if (own == core_->open_.end())
    return false;
  own->second = std::move(x);
  return !core_->closed_;
}

void server_core::close() {
  std::map<uint64_t, std::function<void()>> open;
  {
    std::lock_guard guard{mutex_};
    closed_ = true;
    open = open_;
  }
  for (auto& [id, cut] : open)
    if (cut)
      cut();
}

void http_service::on_upgrade(incoming_request, upgrader answer) {
  answer.reject(error_reply(404, "NotFound", "No stream is served here."));
}

namespace {

void on_accepted(const std::shared_ptr<server_core>& core, stream_ptr x) {
  auto permit = server_core::admit(core, x->remote().address);
  if (!permit)
    return x->close();
  auto connection = std::make_shared<http_connection>(x, core, permit);
  auto cut = [weak = std::weak_ptr{connection}] {
    if (auto self = weak.lock())
      self->loop().post([self] {
        self->cut();
      });
  };
  if (permit->set_cut(cut))
    connection->start();
  else
    connection->cut();
}

} // namespace

http_server::http_server(std::shared_ptr<server_core> core,
                         std::unique_ptr<listener> x)
  : core_(std::move(core)), listener_(std::move(x)) {}

http_server::~http_server() {
  stop_listening();
  core_->close();
}

size_t http_server::connections() const noexcept {
  return core_->connections();
}

result<std::shared_ptr<http_server>>
make_http_server(transport_ptr network, std::shared_ptr<http_service> service,
                 http_server_options options) {
  auto core = std::make_shared<server_core>(std::move(service), options);
  auto opened = network->listen(options.at, [core](stream_ptr x) {
    on_accepted(core, std::move(x));
  });
  if (!opened)
    return opened.error();
  return std::make_shared<http_server>(std::move(core), std::move(*opened));
}

} // namespace weir::net

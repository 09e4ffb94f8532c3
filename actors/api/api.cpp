#include "actors/api/api.hpp"

#include "actors/api/answers.hpp"
#include "actors/api/backup_answers.hpp"
#include "actors/api/channel.hpp"
#include "actors/api/channel_places.hpp"
#include "actors/api/client_lookups.hpp"
#include "actors/api/completeness_answers.hpp"
#include "actors/api/dead_letter_answers.hpp"
#include "actors/api/operation_answers.hpp"
#include "actors/api/repo_answers.hpp"
#include "actors/api/request_body.hpp"
#include "actors/api/routes.hpp"
#include "actors/support/gather.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/timer.hpp"
#include "base/log.hpp"
#include "messages/api.hpp"
#include "messages/consumer.hpp"
#include "messages/caf_types.hpp"
#include "messages/identity.hpp"
#include "messages/journal.hpp"
#include "messages/repo.hpp"
#include "net/limits.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <functional>
#include <optional>

namespace weir::actors {

/// A request on its way to the API actor.
struct api_request {
  net::incoming_request request;
  matched_route route;
  net::responder answer;
};

namespace {

error no_followed_did(const std::string& x) {
  return fail(ec::invalid_argument, "not a DID this node can follow: " + x);
}

using api_request_ptr = std::shared_ptr<api_request>;

class api_worker final : public observed<api_actor::base> {
public:
  api_worker(caf::actor_config& config, std::shared_ptr<api_environment> env)
    : observed(config, "api"), env_(std::move(env)),
      lookups_(env_->lookups_per_second) {}

  behavior_type make_behavior() override {
    return {
      [this](tick x) {
        if (!timer_.fired(x))
          return;
        lookups_.on_timer(env_->shared->time->steady_now());
        arm_timer();
      },
      [this](stop_actor) {
        *stopping_ = true;
        quit();
      },
      [this](get_status) {
        return status({{"waiting_clients", lookups_.clients()}});
      },
      [this](const api_call& x) { run(x.request); },
      [this](const api_lookup& x) { look_up(x); },
      [this](const identity_answer& x) {
        const auto& causes = env_->shared->health.findings();
        lookups_.on_fact(x.repo, fact_of(x.fact, causes), x.last,
                         env_->shared->time->wall_now());
      },
    };
  }

  void on_exit() override {
    lookups_.clear();
    env_ = nullptr;
    observed::on_exit();
  }

private:
  void run(const api_request_ptr& x);
  void change_repos(const api_request_ptr& x);
  void read_repo(const api_request_ptr& x);
  void read_log(const api_request_ptr& x);
  void read_page(const api_request_ptr& x);
  void order_letters(const api_request_ptr& x);
  void resolve(const api_request_ptr& x);
  void look_up(const api_lookup& x);
  void arm_timer();

  template <class Request, class Reply>
  void ask_routers(const api_request_ptr& x, const wire::repos_request& body,
                   std::string_view count_name, uint32_t Reply::*count);

  /// Says true when the node stops, so that no long read delays that.
  std::function<bool()> cancelled() const {
    return [x = stopping_] { return x->load(); };
  }

  std::shared_ptr<api_environment> env_;
  std::shared_ptr<std::atomic<bool>> stopping_
    = std::make_shared<std::atomic<bool>>(false);
  client_lookups lookups_;
  actor_timer timer_;
};

void api_worker::run(const api_request_ptr& x) {
  switch (x->route.to->what) {
    case action::add:
    case action::remove:
    case action::resync:
      return change_repos(x);
    case action::get_repo:
    case action::info:
    case action::completeness:
    case action::stream_operations:
    case action::one_operation:
    case action::records:
    case action::one_record:
      return read_repo(x);
    case action::operations:
      return read_log(x);
    case action::list:
    case action::list_errors:
    case action::dead_letters:
      return read_page(x);
    case action::retry_letters:
    case action::drop_letters:
      return order_letters(x);
    case action::resolve:
      return resolve(x);
    case action::backup:
      return order_backup(this, env_->shared->backup, *x->request.sink,
                          x->answer);
    case action::summary:
      return x->answer.send(summary_reply(*env_, x->request));
    default:
      return x->answer.send(answer_now(x->route.to->what, *env_));
  }
}

void api_worker::change_repos(const api_request_ptr& x) {
  if (!env_->shared->intake.takes_requests())
    return x->answer.send(no_room_reply(*env_));
  auto body = static_cast<repos_body&>(*x->request.sink).finish();
  if (!body)
    return x->answer.send(problem(body.error()));
  for (const auto& did : body->dids)
    if (!atproto::supported_did(did.str()))
      return x->answer.send(problem(no_followed_did(did.str())));
  const auto what = x->route.to->what;
  if (what == action::add)
    ask_routers<add_repos>(x, *body, "queued", &add_result::queued);
  else if (what == action::remove)
    ask_routers<remove_repos>(x, *body, "removed", &remove_result::removed);
  else
    ask_routers<resync_repos>(x, *body, "queued", &resync_result::queued);
}

/// Splits the DIDs by ROUTER and adds up the answers.
template <class Request, class Reply>
void api_worker::ask_routers(const api_request_ptr& x,
                             const wire::repos_request& body,
                             std::string_view count_name,
                             uint32_t Reply::*count) {
  const auto total = std::make_shared<uint64_t>(0);
  const auto all = std::make_shared<gather>(
    [x, total, name = std::string{count_name}](const caf::error& failed) {
      x->answer.send(failed ? problem(from_caf(failed))
                            : count_reply(name, *total));
    });
  for (auto& [router, part] :
       env_->shared->places().by_router<Request>(body.dids)) {
    if constexpr (std::is_same_v<Request, add_repos>)
      part.collections = body.collections;
    all->expect();
    request(env_->shared->routers()[router], caf::infinite, std::move(part))
      .then(
        [all, total, count](const Reply& y) {
          *total += y.*count;
          all->answered();
        },
        [all](caf::error& why) { all->failed(std::move(why)); });
  }
  all->answered();
}

void api_worker::read_repo(const api_request_ptr& x) {
  const auto& text = x->route.parameter("did");
  auto did = atproto::did::parse(text);
  if (!did || !atproto::supported_did(did->str()))
    return x->answer.send(problem(did ? no_followed_did(text) : did.error()));
  auto job = [x, did = *did, env = env_,
              cancelled = cancelled()](store_readers& store) {
    x->answer.send(
      repo_answer(store, *env, x->route, x->request, did, cancelled));
  };
  send(env_->shared->home_of(*did).reader_of(*did), reader_job{std::move(job)});
}

void api_worker::read_log(const api_request_ptr& x) {
  auto request = parse_log_request(x->request);
  if (!request)
    return x->answer.send(problem(request.error()));
  auto& home = request->repo ? env_->shared->home_of(*request->repo)
                             : env_->shared->root();
  const auto& reader = request->repo ? home.reader_of(*request->repo)
                                     : home.reader_of(0);
  auto job = [x, request = std::move(*request), env = env_,
              cancelled = cancelled()](store_readers&) {
    x->answer.send(operations_reply(*env->shared, request, cancelled));
  };
  send(reader, reader_job{std::move(job)});
}

void api_worker::read_page(const api_request_ptr& x) {
  const auto what = x->route.to->what;
  const auto order = what == action::dead_letters  ? page_order::id
                     : what == action::list_errors ? page_order::retry
                                                   : page_order::did;
  const auto page = parse_page(x->request, order);
  if (!page)
    return x->answer.send(problem(page.error()));
  auto job = [x, what, page = *page, env = env_](store_readers&) {
    x->answer.send(
      what == action::dead_letters
        ? dead_letters_reply(*env->shared, env->consumer_name, page)
      : what == action::list_errors ? errors_reply(*env, page)
                                    : repos_reply(*env, page));
  };
  send(env_->shared->root().reader_of(0), reader_job{std::move(job)});
}

void api_worker::order_letters(const api_request_ptr& x) {
  const auto retry = x->route.to->what == action::retry_letters;
  std::vector<uint64_t> foreign;
  auto orders
    = letters_orders_of(*x->request.sink, retry, *env_->shared, foreign);
  if (!orders)
    return x->answer.send(problem(orders.error()));
  const auto sum = std::make_shared<letters_answer>(retry, std::move(foreign));
  const auto all = std::make_shared<gather>([sum, x](const caf::error& failed) {
    x->answer.send(failed ? problem(from_caf(failed)) : sum->reply());
  });
  for (auto& [partition, order] : *orders) {
    const auto home = env_->shared->partitions()[partition];
    all->expect();
    request(home->consumer, caf::infinite, std::move(order))
      .then(
        [=](const letters_report& y) {
          sum->add(y, home->numbers);
          all->answered();
        },
        [all](const caf::error& why) { all->failed(why); });
  }
  all->answered();
}

/// Answers with the stored DID document if it is fresh, otherwise looks it up.
void api_worker::resolve(const api_request_ptr& x) {
  const auto& text = x->route.parameter("did");
  const auto did = atproto::did::parse(text);
  if (!did || !atproto::supported_did(did->str()))
    return x->answer.send(problem(no_followed_did(text)));
  auto job = [x, did = *did, self = api_actor{this},
              wall = env_->shared->time->wall_now()](store_readers& store) {
    const auto row = store.load_identity(did);
    if (!row)
      x->answer.send(problem(row.error()));
    else if (*row && is_fresh(**row, wall))
      x->answer.send(document_reply(did, **row));
    else
      caf::anon_send(self, api_lookup{x, did});
  };
  send(env_->shared->home_of(*did).reader_of(*did), reader_job{std::move(job)});
}

void api_worker::look_up(const api_lookup& x) {
  const auto asked = lookups_.add(
    x.repo,
    [x](const result<storage::identity_row>& fact) {
      x.request->answer.send(document_reply(x.repo, fact));
    },
    env_->shared->time->steady_now());
  if (asked)
    send(env_->shared->identity, identity_ask{x.repo, false, 0, "clients"},
         identity_sink{api_actor{this}});
  arm_timer();
}

void api_worker::arm_timer() {
  if (const auto due = lookups_.due())
    timer_.arm(this, env_->shared->time->steady_now(), *due);
}

/// Routes the requests of one port: checks first, then the actor.
class service final : public net::http_service {
public:
  service(port on, std::shared_ptr<access_control> access, api_actor to,
          std::shared_ptr<api_environment> env)
    : on_(on), access_(std::move(access)), to_(std::move(to)),
      env_(std::move(env)), channels_(std::make_shared<channel_places>()),
      refusals_(env_->shared->metrics.counter(
        "weir_channels_refused_total",
        "Channels that were refused because of their limits")) {}

  size_t body_bytes_max(std::string_view method,
                        std::string_view path) override {
    const auto found = find_route(on_, method, path, false);
    return found ? found->to->body_max
                 : limits::http_request_body_bytes_default;
  }

  std::optional<net::http_reply> on_head(net::incoming_request& head) override {
    if (auto refused = access_->refuse(on_, head))
      return refused; // Bodies of refused requests are not read.
    const auto found = find_route(on_, head.method, head.path, false);
    if (!found) {
      head.sink = std::make_shared<ignored_body>();
    } else if (found->to->body_max > 0) {
      if (auto refused = refuse_content_type(head))
        return refused;
      if (out_of_memory())
        return no_room_reply(*env_);
      head.sink = make_body(*found->to, env_->shared->memory,
                            env_->request_bytes_max);
    }
    return std::nullopt;
  }

  void on_request(net::incoming_request request,
                  net::responder answer) override {
    auto found = find_route(on_, request.method, request.path, false);
    if (auto refused = refusal_of(found, request))
      return answer.send(std::move(*refused));
    auto made = std::make_shared<api_request>(
      api_request{std::move(request), std::move(*found), std::move(answer)});
    caf::anon_send(to_, api_call{std::move(made)});
  }

  void on_upgrade(net::incoming_request request,
                  net::upgrader answer) override {
    auto found = find_route(on_, request.method, request.path, true);
    if (auto refused = refusal_of(found, request))
      return answer.reject(std::move(*refused));
    if (out_of_memory())
      return answer.reject(no_room_reply(*env_));
    auto place = channels_->take(request.peer);
    if (!place) {
      // Tap's client stops for good at any answer but 101, and there will be
      // room again. A client whose connection is cut reconnects (api.md, GET
      // /channel).
      refusals_.tell(request.peer, place.error().context,
                     env_->shared->time->steady_now());
      return answer.cut();
    }
    open_channel(*env_->shared, answer, std::move(*place));
  }

private:
  bool out_of_memory() const {
    return env_->shared->intake.level(shortage::memory)
           == intake_level::no_requests;
  }

  port on_;
  std::shared_ptr<access_control> access_;
  api_actor to_;
  std::shared_ptr<api_environment> env_;
  std::shared_ptr<channel_places> channels_;
  channel_refusals refusals_;
};

} // namespace

api make_api(caf::actor_system& system, api_environment env,
             std::shared_ptr<access_control> access) {
  auto shared = std::make_shared<api_environment>(std::move(env));
  auto worker = system.spawn<api_worker>(shared);
  api out;
  out.data = std::make_shared<service>(port::data, access, worker, shared);
  out.operations
    = std::make_shared<service>(port::operations, access, worker, shared);
  out.stop = [worker] { caf::anon_send(worker, stop_actor{}); };
  out.actor = caf::actor_cast<caf::strong_actor_ptr>(worker);
  return out;
}

} // namespace weir::actors

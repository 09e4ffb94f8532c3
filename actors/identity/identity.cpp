#include "actors/identity/identity.hpp"

#include "actors/identity/export_reads.hpp"
#include "actors/identity/identity_health.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/site.hpp"
#include "actors/support/store_readers.hpp"
#include "actors/support/timer.hpp"
#include "base/log.hpp"
#include "messages/identity.hpp"
#include "messages/journal.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

namespace weir::actors {

namespace {

class identity final : public observed<identity_actor::base> {
public:
  identity(caf::actor_config& config, context_ptr shared,
           identity_options options, std::shared_ptr<identity_network> network,
           std::optional<export_options> exported)
    : observed(config, "identity", turn::full), shared_(std::move(shared)),
      machine_(options), network_(std::move(network)), health_(shared_),
      held_(shared_->memory, memory_use::identity) {
    if (exported)
      export_.emplace(std::move(*exported));
    show_pace();
  }

  behavior_type make_behavior() override;

  void on_exit() override {
    waiters_.clear();
    numbers_.clear();
    network_ = nullptr;
    health_.end();
    held_.set(0);
    shared_ = nullptr;
    observed::on_exit();
  }

private:
  steady_time now() const { return shared_->time->steady_now(); }

  wall_time wall() const { return shared_->time->wall_now(); }

  metric& counter(const char* name, const char* help) {
    return shared_->metrics.counter(name, help);
  }

  void show_pace() {
    pace_.set(
      static_cast<uint64_t>(std::ceil(machine_.directory_pace().per_second())));
  }

  void ask(const identity_ask& x, const identity_sink& from);
  void perform(identity_machine::effects x);
  void write(std::vector<std::pair<atproto::did, storage::identity_row>> known,
             std::vector<atproto::did> taken);
  void load(const atproto::did& repo);
  void answer(identity_machine::answer x);
  void look_export();
  void perform(const export_machine::effects& x);
  void list_export();
  void load_exported();
  void on_export_page(const export_page& x);

  context_ptr shared_;
  identity_machine machine_;
  std::optional<export_machine> export_;
  std::shared_ptr<identity_network> network_;
  struct waiter {
    identity_sink to;
    atproto::did about;
    uint64_t asked; ///< Number of its newest question.
  };

  /// The askers, until no further answer can come.
  std::unordered_map<waiter_id, waiter> waiters_;
  /// The number in `waiters_` of an asker and a repo.
  std::map<std::pair<caf::actor_addr, atproto::did>, waiter_id> numbers_;
  waiter_id last_waiter_ = 0;
  identity_health health_;
  actor_timer timer_;
  byte_claim held_;
  metric& asked_ = counter("weir_identity_asked_total",
                           "Requests of other actors for an identity");
  metric& fetched_
    = counter("weir_identity_lookups_total", "Documents fetched");
  metric& pace_ = shared_->metrics.gauge(
    "weir_identity_pace",
    "Look-ups per second that the directory currently gets");
  metric& failed_ = counter("weir_identity_failures_total",
                            "Look-ups of DID documents that failed");
  metric& unchecked_ = counter(
    "weir_identity_handle_failures_total",
    "Handles that could not be checked, because nobody answered for them");
  metric& exported_
    = counter("weir_identity_exported_total",
              "DID documents taken from the directory's export");
  metric& pages_
    = counter("weir_identity_export_requests_total",
              "Pages of the directory's export that were requested");
  metric& operations_ = counter("weir_identity_export_operations_total",
                                "Operations read from the directory's export");
};

void identity::ask(const identity_ask& x, const identity_sink& from) {
  if (x.probe)
    return perform(machine_.on_probe(x.repo, now()));
  asked_.add();
  const auto [i, added]
    = numbers_.try_emplace({from.address(), x.repo}, last_waiter_ + 1);
  const auto who = i->second;
  if (added)
    ++last_waiter_;
  waiters_.insert_or_assign(who, waiter{from, x.repo, x.number});
  perform(machine_.on_ask(x.repo, who, x.fresh, now(), wall(), x.by));
}

void identity::perform(identity_machine::effects x) {
  held_.set(machine_.bytes());
  show_pace();
  // Written first: what a repo derives from a row must not be on disk earlier.
  write(std::move(x.store), std::move(x.taken));
  for (auto& a : x.answers)
    answer(std::move(a));
  for (const auto& repo : x.load)
    load(repo);
  health_.note_rest(machine_.directory_pace().rests_until(), now());
  health_.note_asked(x.fetch, !x.verify.empty(), now());
  for (const auto& repo : x.fetch) {
    fetched_.add();
    network_->fetch_document(repo, identity_actor{this});
  }
  for (const auto& check : x.verify)
    network_->resolve_handle(check.repo, check.handle, identity_actor{this});
  if (x.timer)
    timer_.arm(this, now(), *x.timer);
  look_export();
}

/// Writes each row to the store of its DID, exported rows to the first store.
void identity::write(
  std::vector<std::pair<atproto::did, storage::identity_row>> known,
  std::vector<atproto::did> taken) {
  std::map<uint16_t, storage::journal_batch> by_home;
  exported_.add(taken.size());
  for (auto& x : known)
    by_home[shared_->places().partition_of(x.first)].identities.push_back(
      std::move(x));
  for (auto& repo : taken)
    by_home[shared_->root().number].exported.emplace_back(std::move(repo),
                                                          std::nullopt);
  for (auto& [home, batch] : by_home) {
    auto rows = std::make_shared<storage::journal_batch>(std::move(batch));
    send(shared_->partitions()[home]->journal, journal_rows{std::move(rows)},
         rows_sink{});
  }
}

void identity::load(const atproto::did& repo) {
  const auto as_of = export_ ? export_->as_of(wall()) : std::nullopt;
  send(shared_->home_of(repo).reader_of(repo),
       reader_job{[to = identity_actor{this}, shared = shared_, repo,
                   as_of](store_readers&) {
         caf::anon_send(to, stored_of(shared->stores, repo, as_of));
       }});
}

void identity::answer(identity_machine::answer x) {
  const auto i = waiters_.find(x.to);
  if (i == waiters_.end())
    return;
  const auto [to, about, asked] = i->second;
  x.asked = asked;
  if (x.last) {
    numbers_.erase({to.address(), about});
    waiters_.erase(i);
  }
  send(to, identity_answer{std::move(x)});
}

void identity::look_export() {
  if (!export_)
    return;
  perform(export_->look(machine_.waiting(),
                        machine_.directory_pace().rests(now()),
                        shared_->intake.backfills(), now(), wall()));
}

void identity::perform(const export_machine::effects& x) {
  if (!x.refused.empty())
    log::info("export_not_read", {{"reason", x.refused}});
  if (x.place || !x.rows.empty()) {
    auto rows = std::make_shared<storage::journal_batch>();
    rows->exported = x.rows;
    rows->export_place = x.place;
    send(shared_->root().journal, journal_rows{std::move(rows)},
         rows_sink{this});
  }
  operations_.add(x.place && x.place->place != 0 ? x.rows.size() : 0);
  if (x.list)
    list_export();
  if (x.ask) {
    machine_.spend(now());
    pages_.add();
    network_->fetch_export(x.ask->after, x.ask->lines, identity_actor{this});
  }
  if (x.whole) {
    log::info("export_read", {{"operations", export_->operations()}});
    load_exported();
  }
  if (x.timer)
    timer_.arm(this, now(), *x.timer);
}

void identity::list_export() {
  const auto job = [to = identity_actor{this}](store_readers& store) {
    if (auto x = store.load_export(limits::export_names_page))
      caf::anon_send(to, std::move(*x));
  };
  send(shared_->root().reader_of(0), reader_job{job});
}

/// DIDs that wait may have an exported row now.
void identity::load_exported() {
  const auto all = machine_.served_by_export();
  const auto as_of = export_->as_of(wall());
  for (size_t i = 0; i < all.size(); i += limits::export_names_page) {
    const auto n = std::min(all.size() - i, limits::export_names_page);
    const auto part = std::span{all}.subspan(i, n);
    const auto job = [to = identity_actor{this}, shared = shared_, as_of,
                      some = std::vector(part.begin(), part.end())](
                       store_readers&) {
      for (const auto& repo : some)
        if (auto x = stored_of(shared->stores, repo, as_of); x.exported)
          caf::anon_send(to, std::move(x));
    };
    send(shared_->root().reader_of(i / limits::export_names_page),
         reader_job{job});
  }
}

void identity::on_export_page(const export_page& x) {
  if (!export_)
    return;
  if (x.operations && !x.read) {
    const auto job = [to = identity_actor{this}, x](store_readers&) {
      caf::anon_send(to, read_page(x));
    };
    return send(shared_->root().reader_of(0), reader_job{job});
  }
  if (x.limited)
    machine_.rest_directory(*x.limited, now());
  health_.note_rest(machine_.directory_pace().rests_until(), now());
  perform(x.operations ? export_->on_page(*x.operations, now())
                       : export_->on_failed(x.operations.error(), now()));
}

identity_actor::behavior_type identity::make_behavior() {
  if (export_)
    perform(export_->start());
  return {
    [this](tick x) {
      if (timer_.fired(x))
        perform(machine_.on_timer(now()));
    },
    [this](stop_actor) { quit(); },
    [this](get_status) {
      return status({{"waiting", machine_.waiting()},
                     {"cached", machine_.cached()},
                     {"askers", waiters_.size()}});
    },
    [this](const identity_ask& x, const identity_sink& from) { ask(x, from); },
    [this](const identity_shared& x) { machine_.on_shared(x.repo, x.by); },
    [this](const identity_stored& x) {
      if (export_ && !x.row)
        export_->on_newcomer();
      perform(machine_.on_loaded(x.repo, x.row, now(), wall(), x.exported));
    },
    [this](const export_page& x) { on_export_page(x); },
    [this](const export_stored& x) {
      if (export_)
        perform(export_->on_stored(x.place, x.names, now()));
    },
    [this](rows_durable) {
      if (export_)
        perform(export_->on_durable(now()));
    },
    [this](const identity_document& x) {
      if (!x.doc) {
        failed_.add();
        log::debug("identity_failed", {{"did", x.repo.str()},
                                       {"reason", to_string(x.doc.error())}});
      }
      health_.on_document(x, now(), wall());
      perform(machine_.on_document(x.repo, x.doc, x.gone, now(), wall(),
                                   x.limited));
    },
    [this](const identity_handle& x) {
      if (x.owner.error().code == ec::unreachable)
        unchecked_.add();
      health_.on_handle(x, now());
      perform(machine_.on_handle(x.repo, x.handle, x.owner));
    },
  };
}

} // namespace

identity_actor spawn_identity(caf::actor_system& system, context_ptr shared,
                              identity_options options,
                              std::shared_ptr<identity_network> network,
                              std::optional<export_options> exported) {
  return system.spawn<identity>(std::move(shared), options, std::move(network),
                                std::move(exported));
}

} // namespace weir::actors

#include "actors/consumer/consumer.hpp"

#include "actors/consumer/backlog_age.hpp"
#include "actors/consumer/client_channels.hpp"
#include "actors/consumer/delivery_machine.hpp"
#include "actors/consumer/letter_desk.hpp"
#include "actors/consumer/consumer_lines.hpp"
#include "actors/consumer/log_use.hpp"
#include "actors/consumer/store_reads.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/owed_answer.hpp"
#include "actors/support/store_readers.hpp"
#include "actors/support/timer.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "messages/consumer.hpp"
#include "storage/log/tail_cache.hpp"
#include "storage/tables/collection_table.hpp"
#include "wire/tap.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace weir::actors {

namespace {

/// The token of the empty rows that the JOURNAL only has to answer.
constexpr uint64_t begin_token = 1;

class consumer final : public observed<consumer_actor::base> {
public:
  consumer(caf::actor_config& config, consumer_environment env,
           delivery_options options, const delivery_state& state)
    : observed(config, "consumer"), env_(std::move(env)),
      machine_(options, state, env_.home->accounts),
      channels_(env_.name, env_.home->numbers),
      held_(env_.shared->memory, memory_use::delivery),
      use_(state.position != 0 || !state.acked.empty(), state.current_before) {
    durable_ = state.durable;
  }

  behavior_type make_behavior() override;

  void on_exit() override {
    channels_.cut_all();
    letters_ = {};
    held_.set(0);
    env_.shared = nullptr;
    env_.home = nullptr;
    observed::on_exit();
  }

private:
  steady_time now() const { return env_.shared->time->steady_now(); }

  /// Has a READER of its partition read the log.
  void read(std::function<void(store_readers&)> job) {
    send(env_.home->reader_of(1), reader_job{std::move(job)});
  }

  void perform(delivery_effects x);
  void carry_out(delivery_effects x);
  bool take_acks();
  std::string_view encode(const delivery_effects::send& x);
  std::optional<log_entries> ask_page(storage::op_id after);
  void begin();
  void on_begun();
  void ask_did_page(const delivery_effects::did_wish& x);
  void save(const delivery_effects::write& x);
  caf::result<letters_report> order_letters(letters_order& x);
  void look_for_letters();
  void judge(const letters_found& x);
  void on_letters(const letters_found& x);
  void end(const error& why, const std::string& did);
  void publish();
  void date_oldest();

  consumer_environment env_;
  delivery_machine machine_;
  client_channels channels_;
  std::string json_;
  storage::op_id durable_ = 0;
  letter_lines letter_lines_;
  actor_timer timer_;
  byte_claim held_;
  letter_desk letters_;
  backlog_age age_;
  log_use use_;
  /// A write that waits for the JOURNAL's answer to the first client.
  std::optional<delivery_effects::write> early_;
  std::optional<storage::op_id> page_after_; ///< The page that waits for it.
};

/// The end of each turn: carries effects out, and those of acks that came
/// meanwhile.
void consumer::perform(delivery_effects x) {
  carry_out(std::move(x));
  while (take_acks()) {
    // The effects may need more acks.
  }
  if (const auto at = channels_.look_at())
    timer_.arm(this, now(), *at);
  publish();
}

/// @returns whether there were acks.
bool consumer::take_acks() {
  const auto all
    = channels_.take_acks(machine_.acks_may_wait(), durable_, now());
  for (const auto& x : all)
    carry_out(machine_.on_acks(x.from, x.ids, now()));
  return !all.empty();
}

/// Sends cause new effects, and so does a page of the tail. The first such page
/// is taken at once, and others wait until other actors had their turns.
void consumer::carry_out(delivery_effects x) {
  std::optional<log_entries> page;
  for (auto first = true;;) {
    if (x.rows)
      save(*x.rows);
    if (x.page_after) {
      page = ask_page(*x.page_after);
      if (page && !std::exchange(first, false))
        send(this, log_page{*std::exchange(page, {})});
    }
    for (const auto& wish : x.did_pages)
      ask_did_page(wish);
    if (x.timer)
      timer_.arm(this, now(), *x.timer);
    const auto text = [this](const auto& y) { return encode(y); };
    if (!x.sends.empty())
      x = machine_.on_sent(channels_.send(x.sends, text), now());
    else if (page)
      x = machine_.on_page(*std::exchange(page, {}), now());
    else
      break;
  }
}

std::string_view consumer::encode(const delivery_effects::send& x) {
  json_.clear();
  const auto& op = x.op();
  const auto id = env_.home->numbers.id_of(x.id).value();
  if (op.scope.starts_with('$')) {
    const auto fact = wire::parse_account_fact(op.body.view());
    wire::append_tap_identity(id, x.entry->repo.str(),
                              fact ? *fact : wire::account_fact{}, json_);
    return json_;
  }
  wire::append_tap_record({id, x.entry->live, x.entry->repo.str(), x.entry->rev,
                           op.scope, op.rkey, op.action, op.id, op.body.view()},
                          json_);
  return json_;
}

/// A client has connected. Rows that are none make the JOURNAL answer when it
/// has done everything that it was asked before.
void consumer::begin() {
  if (!use_.on_client())
    return;
  publish();
  send(env_.home->journal,
       journal_rows{std::make_shared<const storage::journal_batch>(),
                    begin_token},
       rows_sink{consumer_actor{this}});
}

void consumer::on_begun() {
  use_.on_answer(env_.home->stats.whole_from);
  if (const auto rows = std::exchange(early_, std::nullopt))
    save(*rows);
  if (const auto after = std::exchange(page_after_, std::nullopt))
    if (auto page = ask_page(*after))
      perform(machine_.on_page(*std::move(page), now()));
}

/// @returns the page, if the shared tail has it; otherwise a READER sends it.
std::optional<log_entries> consumer::ask_page(storage::op_id after) {
  if (!use_.may_read()) {
    page_after_ = after;
    return std::nullopt;
  }
  auto near = env_.tail->since(after, durable_);
  if (!near)
    read([to = consumer_actor{this}, after, durable = durable_,
          from = use_.current_before()](store_readers& store) {
      caf::anon_send(to, store.read_log(after, durable, from));
    });
  return near;
}

void consumer::ask_did_page(const delivery_effects::did_wish& x) {
  storage::log_page page{.ops_max = x.ops_max,
                         .current_before = use_.current_before()};
  auto job = [to = consumer_actor{this}, x, page](store_readers& store) {
    caf::anon_send(to,
                   store.read_did(x.repo, x.facts, x.after, x.through, page));
  };
  send(env_.home->reader_of(x.repo), reader_job{std::move(job)});
}

void consumer::save(const delivery_effects::write& x) {
  if (!use_.may_read()) {
    early_ = x; // Its row says since when it reads, which is not known yet.
    return;
  }
  pass(crash_point::ack_taken);
  auto rows = std::make_shared<storage::journal_batch>();
  storage::consumer_change change;
  change.name = env_.name;
  change.row = storage::consumer_row{{x.position},
                                     env_.log_identity,
                                     env_.fire_and_forget,
                                     x.settled,
                                     x.dead_letters,
                                     use_.current_before()};
  change.dead_letters_gone = x.letters_gone;
  if (!x.letters_gone.empty())
    letters_.on_write();
  change.acked_gone = x.erase;
  change.acked = x.put;
  for (const auto& letter : x.letters) {
    letter_lines_.tell(env_.name, env_.home->numbers.id_of(letter.id).value(),
                       letter, now());
    change.dead_letters.emplace_back(
      letter.id,
      storage::dead_letter_row{letter.attempts, letter.reason,
                               env_.shared->time->wall_now().seconds()});
  }
  rows->consumers.push_back(std::move(change));
  send(env_.home->journal, journal_rows{std::move(rows)},
       rows_sink{consumer_actor{this}});
}

caf::result<letters_report> consumer::order_letters(letters_order& x) {
  auto promise = make_response_promise<letters_report>();
  auto owed = std::make_shared<owed_answer<letters_report>>(promise);
  letters_.add(std::move(x), [owed](const result<letters_report>& y) {
    y ? owed->give(*y) : owed->fail(y.error());
  });
  look_for_letters();
  return promise;
}

void consumer::look_for_letters() {
  const auto* order = letters_.begin();
  if (order == nullptr)
    return;
  read([to = consumer_actor{this}, name = env_.name,
        order = *order](store_readers& store) {
    caf::anon_send(to, find_letters(store, name, order));
  });
}

/// Nothing of their accounts is sent until later log entries were checked.
void consumer::judge(const letters_found& x) {
  std::vector<atproto::did> repos;
  for (const auto& letter : *x.letters)
    if (letter.entry != nullptr)
      repos.push_back(letter.entry->repo);
  machine_.watch(std::move(repos));
  read([to = consumer_actor{this}, x](store_readers& store) {
    auto judged = x;
    judge_letters(store, judged);
    caf::anon_send(to, std::move(judged));
  });
}

void consumer::on_letters(const letters_found& x) {
  if (x.letters && letters_.order().retry && !x.judged)
    return judge(x);
  letters_report report;
  auto effects = machine_.on_letters(letters_.wishes(x), now(), report);
  if (x.letters)
    letters_.decide(env_.name, env_.home->numbers, x, std::move(report));
  else
    letters_.fail(x.letters.error());
  perform(std::move(effects));
  look_for_letters();
}

/// The log cannot be read: NODE ends the process, and reports this reason.
/// @param did Empty: the log of all DIDs was read.
void consumer::end(const error& why, const std::string& did) {
  log::error("log_unreadable", {{"consumer", env_.name},
                                {"did", did},
                                {"reason", to_string(why)}});
  quit(to_caf(why));
}

void consumer::publish() {
  auto& stats = env_.home->outbox;
  const auto& counters = machine_.counters();
  stats.position = machine_.position();
  stats.uses_log = use_.begun();
  stats.backlog = machine_.backlog();
  stats.in_flight = machine_.events();
  held_.set(machine_.bytes());
  stats.sent = counters.sent;
  stats.acked = counters.acked;
  stats.redelivered = counters.resent;
  stats.foreign_acks = channels_.useless().foreign();
  stats.refused_acks = channels_.useless().bad();
  stats.dead_letters = machine_.dead_letters();
  if (!machine_.awaits_page())
    date_oldest(); // Otherwise its time comes with the page.
}

void consumer::date_oldest() {
  const auto x = machine_.oldest_due();
  if (age_.see(x, now()))
    read([to = consumer_actor{this}, x, durable = durable_,
          from = use_.current_before()](const store_readers& store) {
      caf::anon_send(to, read_unread(store, x, durable, from));
    });
  if (const auto at = age_.look_at())
    timer_.arm(this, now(), *at);
  env_.home->outbox.oldest_us = age_.written_us();
}

consumer_actor::behavior_type consumer::make_behavior() {
  publish();
  return {
    [this](log_advanced x) {
      durable_ = x.id;
      perform(machine_.on_log(x.id, x.events, now()));
    },
    [this](acks_waiting) { perform({}); },
    [this](tick x) {
      if (timer_.fired(x))
        perform(machine_.on_timer(now()));
    },
    [this](get_status) {
      return status({{"position", machine_.position()},
                     {"backlog", machine_.backlog()},
                     {"in_flight", machine_.events()},
                     {"sessions", machine_.sessions()}},
                    env_.name + "." + std::to_string(env_.home->number));
    },
    [this](stop_actor) {
      perform({});
      if (const auto last = machine_.on_stop(now()); last.rows)
        save(*last.rows);
      quit();
    },
    [this](const log_page& x) {
      if (x.entries)
        perform(machine_.on_page(*x.entries, now()));
      else
        end(x.entries.error(), {});
    },
    [this](const did_page& x) {
      if (x.entries)
        perform(machine_.on_did_page(x, now()));
      else
        end(x.entries.error(), x.repo.str());
    },
    [this](const channel_opened& x) {
      channels_.open(x);
      begin();
      perform(machine_.on_session_up(x.session, now()));
    },
    [this](const channel_refused& x) {
      channels_.refuse(x.reason, now());
      publish();
    },
    [this](channel_closed x) {
      perform({}); // Its last acks count.
      channels_.close(x.session);
      perform(machine_.on_session_down(x.session, now()));
    },
    [this](const rows_durable& x) {
      if (x.token == begin_token)
        return on_begun();
      pass(crash_point::ack_written);
      letters_.on_durable();
      perform(machine_.on_durable_rows(now()));
      look_for_letters();
    },
    [this](letters_order& x) { return order_letters(x); },
    [this](const letters_found& x) { on_letters(x); },
    [this](const unread_log& x) {
      age_.on_read(x, machine_, now());
      date_oldest();
    },
  };
}

} // namespace

consumer_actor spawn_consumer(caf::actor_system& system,
                              consumer_environment env,
                              delivery_options options, delivery_state state) {
  return system.spawn<consumer>(std::move(env), std::move(options),
                                std::move(state));
}

} // namespace weir::actors

#include "actors/backfill/backfill.hpp"

#include "actors/backfill/limits.hpp"
#include "actors/support/account_json.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/store_readers.hpp"
#include "atproto/limits.hpp"
#include "base/crash_point.hpp"
#include "messages/journal.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <boost/json.hpp>

namespace weir::actors {

namespace {

constexpr auto quantum = std::chrono::milliseconds{2};
constexpr size_t records_a_step = 64;

import_order to_order(const fetch_started& x, size_t index_entries_max) {
  auto filter = wire::collection_filter::parse(x.collections);
  import_order out{x.repo, x.key, x.base, x.least,
                   filter ? std::move(*filter) : wire::collection_filter{}};
  out.index_entries_max = index_entries_max;
  return out;
}

/// Whether what came is at fault, and neither our store nor a bound for repos.
bool is_hosts_fault(const error& why, host_report::verdict verdict) {
  if (verdict != host_report::verdict::fine)
    return verdict != host_report::verdict::rate_limited;
  return why.code != ec::limit_reached && why.code != ec::storage_failure
         && why.code != ec::disk_full;
}

class backfill final : public observed<backfill_actor::base> {
public:
  backfill(caf::actor_config& config, backfill_environment env,
           fetch_started order)
    : observed(config, "backfill", order.repo.str()), env_(std::move(env)),
      order_(std::move(order)), spools_(env_.spools()),
      held_(env_.shared->memory, memory_use::fetches) {
    import_ = std::make_shared<import_machine>(
      to_order(order_, env_.index_entries_max), std::move(spools_.store),
      std::move(spools_.index));
  }

  behavior_type make_behavior() override;

  void on_exit() override {
    if (download_)
      download_->cancel();
    download_ = nullptr;
    import_ = nullptr;
    held_.set(0);
    order_.from = nullptr;
    env_ = {};
    observed::on_exit();
  }

private:
  void on_head(const fetch_head& x);
  void on_bytes(const fetch_bytes& x);
  void on_end(const fetch_ended& x);
  void run();
  void run_on_reader();
  void take(const result<import_machine::progress>& x, bool& go_on);
  void ask_heads(const std::string& after);
  void claim();
  void report_progress(bool received);
  void give_up(error why, host_report::verdict verdict,
               std::optional<storage::account_status> account = {});
  void refused_by_host();
  void succeed();
  void note_health(std::string_view failure);

  backfill_environment env_;
  fetch_started order_;
  import_spools spools_;
  byte_claim held_;
  std::shared_ptr<import_machine> import_;
  std::shared_ptr<repo_download> download_;
  fetch_head head_;
  std::string error_body_;
  uint64_t received_ = 0; ///< Body bytes.
  steady_time reported_;
  size_t chunks_out_ = 0;
  bool busy_ = false;       ///< A step or a page of heads is on its way.
  bool all_sent_ = false;
  std::optional<std::vector<storage::new_operation>> waiting_chunk_;
};

void backfill::on_head(const fetch_head& x) {
  head_ = x;
  send(env_.shared->supervisor, fetch_progress{order_.job, received_, false});
}

void backfill::on_bytes(const fetch_bytes& x) {
  env_.bytes->add(x.piece.size());
  received_ += x.piece.size();
  report_progress(false);
  if (head_.status != 200) {
    error_body_ += as_text(x.piece.view())
                     .substr(0, limits::fetch_error_bytes_max
                                  - error_body_.size());
  } else if (auto ok = import_->feed(x.piece.view()); !ok) {
    give_up(ok.error(), host_report::verdict::fine);
    return;
  }
  claim();
  if (download_)
    download_->grant(x.piece.size());
}

/// SUPERVISOR compares how fast downloads are, as long as they are.
void backfill::report_progress(bool received) {
  const auto now = env_.shared->time->steady_now();
  if (!received && now - reported_ < limits::fetch_progress_interval)
    return;
  reported_ = now;
  send(env_.shared->supervisor,
       fetch_progress{order_.job, received_, received});
}

/// What was fed is in memory until it lies in files but for the block index;
/// chunks come when all of it was proved.
void backfill::claim() {
  const auto most = env_.spool_bytes_max
                    + env_.index_entries_max * limits::walk_index_entry_bytes;
  held_.set(limits::fetch_window_bytes
            + std::min<uint64_t>(import_->bytes_fed(), most)
            + chunks_out_ * limits::chunk_bytes_max);
}

void backfill::on_end(const fetch_ended& x) {
  download_ = nullptr;
  if (x.reason.code != ec::none) {
    give_up(x.reason, head_.status == 0 ? host_report::verdict::silent
                                        : host_report::verdict::failed);
    return;
  }
  report_progress(true);
  if (head_.status != 200) {
    refused_by_host();
    return;
  }
  if (auto ok = import_->finish(env_.shared->time->wall_now()); !ok) {
    give_up(ok.error(), host_report::verdict::fine);
    return;
  }
  busy_ = true;
  send(this, backfill_step{});
}

/// An answer that is no CAR (protocol-coverage.md 5): rate limits and account
/// states
/// are not failures.
void backfill::refused_by_host() {
  if (head_.status == 429) {
    give_up(fail(ec::rate_limited, "HTTP 429"),
            host_report::verdict::rate_limited);
    return;
  }
  std::string name;
  boost::system::error_code bad;
  const auto body = boost::json::parse(error_body_, bad);
  if (!bad && body.is_object())
    if (const auto* text = body.get_object().if_contains("error");
        text != nullptr && text->is_string())
      name = text->get_string();
  const auto status = "HTTP " + std::to_string(head_.status);
  const auto refused = head_.status == 400 || head_.status == 404;
  if (const auto account = account_of_error(name); account && refused)
    give_up(fail(ec::account_inactive, name), host_report::verdict::fine,
            account);
  else
    give_up(fail(refused ? ec::not_found : ec::unreachable,
                 status + ' ' + name),
            head_.status >= 500 ? host_report::verdict::failed
                                : host_report::verdict::fine);
}

/// Steps until the quantum is used up, then lets others run.
void backfill::run() {
  busy_ = false;
  if (waiting_chunk_ || all_sent_)
    return;
  if (spools_.on_disk()) {
    run_on_reader();
    return;
  }
  const auto& time = *env_.shared->time;
  const auto end = time.steady_now() + quantum;
  bool go_on = true;
  while (go_on && time.steady_now() < end)
    take(import_->step(records_a_step), go_on);
  if (go_on) {
    busy_ = true;
    send(this, backfill_step{});
  }
}

/// Reads of a spooled file belong on a READER's thread.
void backfill::run_on_reader() {
  busy_ = true;
  reader_job job;
  job.run = [to = backfill_actor{this}, import = import_](store_readers&) {
    auto out = std::make_shared<result<import_machine::progress>>(
      import->step(records_a_step));
    caf::anon_send(to, backfill_step{std::move(out)});
  };
  send(env_.shared->reader_of(atproto::stable_hash(order_.repo.str())),
       std::move(job));
}

void backfill::take(const result<import_machine::progress>& x, bool& go_on) {
  if (!x) {
    go_on = false;
    give_up(x.error(), host_report::verdict::fine);
    return;
  }
  if (x->chunk) {
    pass(crash_point::import_chunk);
    if (chunks_out_ < env_.chunks_max) {
      ++chunks_out_;
      claim();
      send(order_.from, repo_chunk{order_.job, import_->root().rev, *x->chunk,
                                   backfill_actor{this}});
    } else {
      waiting_chunk_ = x->chunk;
      go_on = false;
    }
  }
  if (x->need_heads) {
    go_on = false;
    ask_heads(x->heads_after);
  }
  if (x->done) {
    all_sent_ = true;
    go_on = false;
    if (!waiting_chunk_)
      succeed();
  }
}

void backfill::ask_heads(const std::string& after) {
  busy_ = true;
  reader_job job;
  job.run = [to = backfill_actor{this}, repo = order_.repo, base = order_.base,
             after](store_readers& store) {
    caf::anon_send(to, store.read_heads(repo, *base, after));
  };
  send(env_.shared->reader_of(atproto::stable_hash(order_.repo.str())),
       std::move(job));
}

void backfill::note_health(std::string_view failure) {
  const auto& shared = *env_.shared;
  env_.shared->health.with([&](health_machine& health) {
    health.on_fetch(atproto::stable_hash(order_.repo.str()), order_.pds,
                    failure, shared.time->steady_now());
  });
}

void backfill::succeed() {
  note_health({});
  env_.records->add(import_->records());
  send(order_.from,
       repo_fetched{order_.job, std::make_shared<const atproto::verified_root>(
                                  import_->root())});
  send(env_.shared->supervisor,
       host_report{order_.pds, host_report::verdict::fine, {}});
  quit();
}

void backfill::give_up(error why, host_report::verdict verdict,
                       std::optional<storage::account_status> account) {
  if (account)
    note_health({});
  else if (is_hosts_fault(why, verdict) && !import_->ahead().defined())
    note_health(to_string(why));
  send(env_.shared->supervisor,
       host_report{order_.pds, verdict, head_.retry_after});
  send(order_.from, repo_fetch_failed{order_.job, std::move(why), account,
                                     import_->ahead()});
  quit();
}

backfill_actor::behavior_type backfill::make_behavior() {
  set_exit_handler([this](caf::exit_msg& x) { quit(x.reason); });
  claim();
  reported_ = env_.shared->time->steady_now();
  download_ = env_.fetch(order_.pds, order_.repo, backfill_actor{this});
  if (download_)
    download_->grant(limits::fetch_window_bytes);
  return {
    [](tick) {},
    [this](stop_actor) { quit(); },
    [this](const fetch_head& x) { on_head(x); },
    [this](const fetch_bytes& x) { on_bytes(x); },
    [this](const fetch_ended& x) { on_end(x); },
    [this](const backfill_step& x) {
      if (!x.outcome) {
        run();
        return;
      }
      bool go_on = true;
      busy_ = false;
      take(*std::static_pointer_cast<result<import_machine::progress>>(
             x.outcome),
           go_on);
      if (go_on)
        run();
    },
    [this](heads_page& x) {
      if (x.failed.code != ec::none) {
        give_up(x.failed, host_report::verdict::fine);
        return;
      }
      std::vector<import_machine::held> page;
      page.reserve(x.heads.size());
      for (auto& head : x.heads)
        page.push_back({std::move(head.path), head.id});
      import_->on_heads(std::move(page), x.end);
      run();
    },
    [this](chunk_stored) {
      --chunks_out_;
      claim();
      if (waiting_chunk_) {
        ++chunks_out_;
        send(order_.from,
             repo_chunk{order_.job, import_->root().rev,
                        std::move(*waiting_chunk_), backfill_actor{this}});
        waiting_chunk_.reset();
        if (all_sent_)
          succeed();
        else if (!busy_)
          run();
      }
    },
    [this](job_cancelled) { quit(); },
  };
}

} // namespace

backfill_actor spawn_backfill(caf::actor_system& system,
                              const backfill_environment& env,
                              fetch_started order) {
  return system.spawn<backfill>(env, std::move(order));
}

} // namespace weir::actors

#include "apps/demo/demo.hpp"

#include "apps/demo/consumer.hpp"
#include "apps/demo/evidence.hpp"
#include "apps/demo/faults.hpp"
#include "apps/demo/network.hpp"
#include "apps/demo/proof.hpp"
#include "apps/demo/report.hpp"
#include "apps/weir/commands.hpp"
#include "apps/weir/host_check.hpp"
#include "apps/weir/stop_signal.hpp"

#include <iostream>

namespace weir::apps {

namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 100ms;
constexpr auto deadline = 60s; ///< The limit of each phase that waits.
constexpr auto status_interval = 10s;
constexpr size_t findings_shown = 20;
constexpr uint64_t forget_every = 5'000; ///< One in this many is not acked.

class demo {
public:
  explicit demo(const demo_options& options)
    : options_(options), network_(options), faults_(network_.life(), options) {}

  int run() {
    result<void> ok;
    const auto next = [&](result<void> (demo::*phase)()) {
      if (ok)
        ok = (this->*phase)();
    };
    next(&demo::start);
    next(&demo::backfill);
    if (options_.forever) {
      next(&demo::stay);
    } else {
      next(&demo::live);
      next(&demo::converge);
      next(&demo::become_whole);
      next(&demo::check_notice);
      next(&demo::prove);
    }
    const watchdog limit{drain_patience};
    network_.stop_node();
    if (!ok) {
      network_.keep_data();
      if (!network_.data_dir().empty())
        report_.line("kept", network_.data_dir().string());
      std::cout << "DEMO FAILED: " << ok.error().context << std::endl;
      return failed;
    }
    if (!options_.forever)
      std::cout << "DEMO OK  " << summary() << std::endl;
    return all_good;
  }

private:
  result<void> start() {
    if (auto ok = network_.start_network(); !ok)
      return ok;
    report_.line("network",
                 "1 PLC, " + std::to_string(options_.hosts) + " PDS, 1 relay, "
                   + grouped(network_.life().truth().accounts())
                   + " accounts, seed " + std::to_string(options_.seed));
    if (!options_.forever)
      faults_.order_requests();
    auto ok = network_.start_node([this](const error& x) {
      stop_.fail(x);
    });
    if (!ok)
      return ok;
    report_.line("listening", "data " + network_.node().data_url()
                                + "  operations "
                                + network_.node().operations_url());
    if (options_.forever)
      report_.line("network", "relay " + network_.urls().relay + "  control "
                                + network_.urls().control);
    consumer_ = std::make_unique<demo_consumer>(network_.web().transport(),
                                                network_.node().data_url());
    consumer_->set_forgetful(options_.forever ? 0 : forget_every);
    consumer_->start();
    return {};
  }

  /// Waits until all repos are synced and checks that all records are there.
  result<void> backfill() {
    const auto accounts = network_.life().truth().accounts();
    node_status now;
    auto ok = until("the backfill", [&]() -> result<bool> {
      auto status = network_.status();
      if (!status)
        return status.error();
      now = *status;
      return now.synced == accounts;
    });
    if (!ok)
      return fail(ok.error().code, ok.error().context + " ("
                                     + grouped(now.synced) + "/"
                                     + grouped(accounts) + " repos)");
    uint64_t records = 0;
    for (size_t i = 0; i < accounts; ++i)
      records += network_.life().truth().view(i).records;
    if (now.records != records)
      return fail(ec::verification_failed, "the node has "
                                             + grouped(now.records)
                                             + " records, the "
                                               "network "
                                             + grouped(records));
    report_.line("backfill", grouped(accounts) + "/" + grouped(accounts)
                               + " repos  " + grouped(records)
                               + " records  every tree and signature verified");
    return {};
  }

  /// Makes traffic and causes one fault after the other.
  result<void> live() {
    network_.life().set_rate(options_.rate);
    const auto steps = faults_.steps_left();
    const auto interval
      = std::chrono::milliseconds{options_.duration} / (steps + 1);
    for (size_t i = 0; i < steps; ++i) {
      if (auto ok = pause(interval); !ok)
        return ok;
      faults_.step();
      if (i == steps / 2)
        consumer_->drop_connection();
    }
    if (auto ok = pause(interval); !ok)
      return ok;
    network_.life().set_rate(0);
    faults_.settle();
    consumer_->set_forgetful(0);
    const auto made = network_.life().traffic().counts();
    report_.line("live", grouped(made.events) + " events at "
                           + grouped(static_cast<uint64_t>(options_.rate))
                           + "/s: " + grouped(made.commits) + " commits with "
                           + grouped(made.operations) + " operations");
    report_.line("faults", listed(faults_.injected()));
    return {};
  }

  result<void> converge() {
    const auto start = report_.seconds();
    auto ok = until("convergence", [this] {
      return caught_up();
    });
    if (!ok) {
      for (const auto& x : last_.differences)
        report_.line("differs", x);
      return fail(ok.error().code, ok.error().context + ", "
                                     + grouped(last_.wrong.size())
                                     + " accounts differ");
    }
    std::vector<std::chrono::microseconds> latencies;
    consumer_->read([&](const event_copy& copy) {
      latencies = copy.latencies();
    });
    report_.line("converged",
                 "after "
                   + readable(std::chrono::microseconds{
                     static_cast<int64_t>((report_.seconds() - start) * 1e6)})
                   + "  from commit to consumer p50 "
                   + readable(percentile(latencies, 0.5)) + "  p99 "
                   + readable(percentile(latencies, 0.99)));
    return {};
  }

  /// Checks invariant I9 on a quiet network: the node must say of every account
  /// that its copy is complete, and be right.
  result<void> become_whole() {
    std::vector<std::string> missing;
    auto ok = until("completeness", [&]() -> result<bool> {
      const auto repos = network_.repos();
      if (!repos)
        return repos.error();
      auto found = judge_completeness(network_.life().truth(), *repos);
      if (!found.wrong.empty())
        return fail(ec::verification_failed, found.wrong.front());
      missing = std::move(found.missing);
      return missing.empty();
    });
    if (!ok && ok.error().code == ec::verification_failed)
      return ok.error();
    if (!ok) {
      for (size_t i = 0; i < missing.size() && i < findings_shown; ++i)
        report_.line("incomplete", missing[i]);
      return fail(ok.error().code, ok.error().context + ", "
                                     + grouped(missing.size())
                                     + " active repos are not complete");
    }
    report_.line("complete",
                 grouped(last_.active)
                   + " active repos are proved complete, and equal");
    return {};
  }

  result<void> stay() {
    network_.life().set_rate(options_.rate);
    while (!stop_.wait_for(status_interval)) {
      const auto now = network_.status();
      if (!now)
        return now.error();
      event_copy::counters counts;
      consumer_->read([&](const event_copy& copy) {
        counts = copy.counts();
      });
      report_.line("running", grouped(now->synced) + "/" + grouped(now->repos)
                                + " repos  " + grouped(now->records)
                                + " records  log " + grouped(now->log_end)
                                + "  delivered " + grouped(counts.records)
                                + "  waiting " + grouped(now->outbox));
    }
    if (const auto reason = stop_.failure())
      return fail(reason->code, "the node failed: " + reason->context);
    return {};
  }

  /// Checks that the node counted the faults that were injected.
  result<void> check_notice() {
    const auto page = network_.metrics();
    if (!page)
      return page.error();
    auto wrong = faults_.misses();
    std::ranges::move(unnoticed_faults(faults_.injected(), *page),
                      std::back_inserter(wrong));
    for (const auto& x : wrong)
      report_.line("unnoticed", x);
    if (!wrong.empty())
      return fail(ec::verification_failed, wrong.front());
    return {};
  }

  /// Stops the node and checks its store.
  result<void> prove() {
    consumer_->stop();
    network_.stop_node();
    const auto stores = closed_stores::open(network_.data_dir().string());
    if (!stores)
      return stores.error();
    const auto delivered = prove_delivery(*stores);
    return delivered ? prove_store(*stores) : delivered;
  }

  result<void> prove_delivery(const closed_stores& stores) {
    result<delivery_check> checked = fail(ec::none);
    event_copy::counters counts;
    consumer_->read([&](const event_copy& copy) {
      checked = check_delivery(stores, copy);
      counts = copy.counts();
    });
    if (!checked)
      return checked.error();
    delivery_ = *checked;
    report_.line("delivery",
                 grouped(delivery_.operations)
                   + " operations in the log: " + grouped(delivery_.delivered)
                   + " delivered, " + grouped(delivery_.withheld)
                   + " withheld, " + grouped(delivery_.commits) + " markers, "
                   + grouped(delivery_.lost) + " lost; "
                   + grouped(counts.redelivered) + " sent again");
    if (!delivery_.good()
        || counts.conflicts + counts.out_of_order + counts.unreadable != 0)
      return fail(ec::verification_failed,
                  grouped(delivery_.lost) + " lost, "
                    + grouped(delivery_.altered) + " altered, "
                    + grouped(delivery_.invented) + " invented, "
                    + grouped(counts.conflicts) + " ids with two contents, "
                    + grouped(counts.out_of_order) + " out of order, "
                    + grouped(counts.unreadable) + " unreadable");
    return {};
  }

  result<void> prove_store(const closed_stores& stores) {
    auto report = storage::verify_stores(stores.all());
    if (!report)
      return report.error();
    host_check_options host;
    host.origin = network_.urls().relay;
    host.directory = network_.urls().plc;
    host.strict = true;
    const auto against = check_against_host(stores, network_.web(), host);
    if (!against)
      return against.error();
    for (const auto* each :
         std::initializer_list<const storage::verify_report*>{&*report,
                                                              &*against})
      for (const auto& x : each->findings)
        report_.line("finding", x.invariant + " " + x.where + " " + x.sentence);
    if (report->findings_total + against->findings_total > 0)
      return fail(ec::verification_failed, "the store has findings");
    report_.line("verify", listed(report->counts) + "; against the relay "
                             + listed(against->counts) + "; no findings");
    return {};
  }

  result<comparison> compare_now() {
    auto repos = network_.repos();
    if (!repos)
      return repos.error();
    const auto truth = network_.life().truth().expected();
    comparison out;
    consumer_->read([&](const event_copy& copy) {
      out = compare(truth, *repos, copy);
    });
    return out;
  }

  /// True when all copies are equal and each event without an ack came again.
  result<bool> caught_up() {
    auto now = compare_now();
    if (!now)
      return now.error();
    last_ = std::move(*now);
    const auto counts = consumer_->counts();
    return last_.equal() && counts.recovered == counts.forgotten;
  }

  /// Waits, unless the demo is interrupted or the node fails.
  result<void> pause(std::chrono::milliseconds x) {
    if (!stop_.wait_for(x))
      return {};
    if (const auto reason = stop_.failure())
      return fail(reason->code, "the node failed: " + reason->context);
    return fail(ec::cancelled, "interrupted");
  }

  result<void> until(const char* what,
                     const std::function<result<bool>()>& done) {
    for (const auto start = report_.seconds();;) {
      const auto reached = done();
      if (!reached)
        return reached.error();
      if (*reached)
        return {};
      if (report_.seconds() - start > std::chrono::seconds{deadline}.count())
        return fail(ec::limit_reached,
                    std::string{what} + " took more than 60 s");
      if (auto ok = pause(poll_interval); !ok)
        return ok;
    }
  }

  std::string summary() const {
    uint64_t injected = 0;
    for (const auto& [ignored, count] : faults_.injected())
      injected += count;
    const auto forgotten = consumer_->counts().forgotten;
    return grouped(last_.active) + "/" + grouped(last_.active)
           + " active repos equal the network and are proved complete ("
           + grouped(last_.records) + " records), " + grouped(last_.inactive)
           + " inactive known as such, " + grouped(delivery_.delivered)
           + " events delivered, 0 lost, 0 out of order, "
           + grouped(faults_.healed(last_.wrong)) + " of " + grouped(injected)
           + " faults healed, " + grouped(forgotten)
           + " unacked events came again";
  }

  const demo_options options_;
  stop_signal stop_; ///< Made before any thread starts.
  demo_report report_;
  demo_network network_;
  demo_faults faults_;
  std::unique_ptr<demo_consumer> consumer_;
  comparison last_;
  delivery_check delivery_;
};

} // namespace

int run_demo(const demo_options& options) {
  return demo{options}.run();
}

} // namespace weir::apps

#include "actors/backfill/fetch_machine.hpp"

#include "actors/support/account_json.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

/// The value of `error` in the body of a refusal; empty if there is none.
std::string error_name(const std::string& body) {
  const auto parsed = parse_object(body);
  return parsed ? std::string{text_of(*parsed, "error")} : std::string{};
}

/// Whether the host is at fault, rather than our store, our clock or a bound.
bool is_hosts_fault(const error& why, host_verdict verdict) {
  if (verdict != host_verdict::fine)
    return verdict != host_verdict::rate_limited;
  return why.code != ec::limit_reached && why.code != ec::storage_failure
         && why.code != ec::disk_full;
}

} // namespace

fetch_machine::fetch_machine(std::shared_ptr<import_machine> import,
                             fetch_bounds bounds, steady_time now)
  : import_(std::move(import)), bounds_(bounds), reported_(now) {}

fetch_machine::effects fetch_machine::on_bytes(bytes_view piece,
                                               steady_time now) {
  received_ += piece.size();
  if (head_.status != 200) {
    const auto room = limits::fetch_error_bytes_max - error_body_.size();
    error_body_ += as_text(piece).substr(0, room);
  } else if (auto ok = import_->feed(piece); !ok) {
    return give_up(with_type(ok.error()), host_verdict::fine);
  }
  effects out;
  out.progress = now - reported_ >= limits::fetch_progress_interval;
  if (out.progress)
    reported_ = now;
  out.grant = piece.size();
  return out;
}

fetch_machine::effects fetch_machine::on_end(const result<void>& outcome,
                                             wall_time now) {
  if (!outcome)
    return give_up(outcome.error(), head_.status == 0 ? host_verdict::silent
                                                      : host_verdict::failed);
  is_received_ = true;
  auto out = effects{.progress = true};
  if (head_.status != 200)
    out.end = refused_by_host().end;
  else if (auto ok = import_->finish(now); !ok)
    out.end = give_up(with_type(ok.error()), host_verdict::fine).end;
  else
    stepping_ = true;
  return out;
}

/// Adds to the fault of a body what its host calls it, unless that is a CAR: a
/// page of a proxy, for example.
error fetch_machine::with_type(error why) const {
  const auto& type = head_.content_type;
  if (why.code == ec::malformed && !type.empty()
      && !type.starts_with("application/vnd.ipld.car"))
    why.context += ", sent as " + type;
  return why;
}

/// Handles an answer that is not a CAR. Rate limits and states of accounts are
/// not failures of the host (protocol-coverage.md 5).
fetch_machine::effects fetch_machine::refused_by_host() {
  if (head_.status == 429)
    return give_up(fail(ec::rate_limited, "HTTP 429"),
                   host_verdict::rate_limited);
  const auto name = error_name(error_body_);
  const auto refused = head_.status == 400 || head_.status == 404;
  if (const auto account = account_of_error(name); account && refused)
    return give_up(fail(ec::account_inactive, name), host_verdict::fine,
                   account);
  return give_up(fail(refused ? ec::not_found : ec::unreachable,
                      "HTTP " + std::to_string(head_.status) + ' ' + name),
                 head_.status >= 500 ? host_verdict::failed
                                     : host_verdict::fine);
}

fetch_machine::effects fetch_machine::on_step(result<import_progress> x) {
  if (ended_)
    return {};
  if (!x)
    return give_up(x.error(), host_verdict::fine);
  effects out;
  if (x->chunk && chunks_out_ < bounds_.chunks_max) {
    ++chunks_out_;
    out.chunk = std::move(x->chunk);
  } else if (x->chunk) {
    waiting_chunk_ = std::move(x->chunk);
  }
  if (x->need_heads) {
    awaits_heads_ = true;
    out.heads_after = std::move(x->heads_after);
  }
  if (x->done) {
    stepping_ = false;
    if (!waiting_chunk_)
      succeed(out);
  }
  return out;
}

fetch_machine::effects fetch_machine::on_heads(heads_page page) {
  if (ended_)
    return {};
  if (!page.heads)
    return give_up(page.heads.error(), host_verdict::fine);
  awaits_heads_ = false;
  import_->on_heads(std::move(*page.heads), page.end);
  return {};
}

fetch_machine::effects fetch_machine::on_chunk_stored() {
  --chunks_out_;
  effects out;
  if (!waiting_chunk_)
    return out;
  ++chunks_out_;
  out.chunk = std::exchange(waiting_chunk_, std::nullopt);
  if (!stepping_)
    succeed(out);
  return out;
}

uint64_t fetch_machine::bytes_held() const noexcept {
  const auto most
    = bounds_.spool_bytes_max
      + bounds_.index_entries_max * limits::walk_index_entry_bytes;
  return limits::fetch_window_bytes
         + std::min<uint64_t>(import_->bytes_fed(), most)
         + chunks_out_ * limits::chunk_bytes_max;
}

fetch_machine::effects
fetch_machine::give_up(error why, host_verdict host,
                       std::optional<storage::account_status> account) {
  ended_ = true;
  const auto ahead = import_->ahead();
  std::optional<std::string> fault;
  if (account || (is_hosts_fault(why, host) && !ahead.defined()))
    fault = account ? "" : to_string(why);
  return {.end = ending{std::move(why), host, head_.retry_after, account, ahead,
                        std::move(fault)}};
}

} // namespace weir::actors

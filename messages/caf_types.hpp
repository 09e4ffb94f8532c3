#pragma once

#include "base/error.hpp"
#include "base/limits.hpp"
#include "messages/frames.hpp"
#include "messages/status.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>
#include <caf/detail/stringification_inspector.hpp>
#include <caf/error.hpp>
#include <caf/make_message.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/sec.hpp>

/// Gives the messages to CAF: they are plain values, and only this file and
/// `interfaces.hpp` know that actors send them.

/// All messages that stay in one process. Each is one struct, whose comment
/// says who sends it.
// clang-format off
#define WEIR_LOCAL_MESSAGES(X) \
  X(account_answer) X(acks_waiting) X(account_question) X(account_said) X(account_unasked) \
  X(add_repos) X(add_result) X(api_call) X(api_lookup) X(ask_tracked) \
  X(attend_repo) X(backfill_step) X(backup_made) X(begin_fetch) X(channel_closed) \
  X(channel_opened) X(channel_refused) X(chunk_stored) X(clock_corrected) \
  X(completeness_page) X(content_purged) X(did_page) X(disk_reading) X(erase_begun) \
  X(erase_over) X(erase_replaced) X(erase_step) X(erase_stepped) X(export_page) \
  X(export_stored) X(fetch_begun) X(fetch_bytes) X(fetch_ended) X(fetch_head) \
  X(fetch_progress) X(heads_page) X(host_report) X(identity_answer) \
  X(identity_ask) X(identity_document) X(identity_handle) X(identity_shared) \
  X(identity_stored) X(import_progress) X(intake_changed) X(job_cancelled) \
  X(job_ended) X(journal_fence) X(journal_fenced) X(journal_flush) \
  X(journal_missed) X(journal_noted) X(journal_rows) X(journal_update) \
  X(left_out_page) X(letters_found) X(letters_order) X(letters_report) \
  X(line_undecided) X(listing_compared) X(listing_page) X(listing_taken) \
  X(log_advanced) X(log_page) X(log_trimmed) X(make_backup) X(node_command) X(passivate_repo) X(reader_job) \
  X(release_caches) X(remove_repos) X(remove_result) X(replaced_erased) X(repo_attended) \
  X(repo_buffer_page) X(repo_chunk) X(repo_fetch_failed) X(repo_fetched) \
  X(repo_frames) X(repo_incomplete) X(repo_listed) X(repo_listing) \
  X(repo_loaded) X(repo_passive) X(repo_receipt) X(repo_removed) X(repo_wish) \
  X(resync_repos) X(resync_result) X(rows_durable) X(scan_page) X(stop_actor) \
  X(stream_claim) X(stream_claim_decided) X(stream_claims_rest) \
  X(stream_closed) X(stream_frames) X(stream_opened) X(sweep_on) X(tick) \
  X(tracked_reply) X(trim_log) X(uncovered_page) X(unread_log)

/// All messages that may travel between nodes, as their comments say. Each has
/// an `inspect` below.
#define WEIR_TRAVELLING_MESSAGES(X) \
  X(actor_status) X(frame_batch) X(frames_done) X(frames_lost) X(get_status)
// clang-format on

#define WEIR_DECLARE_MESSAGE(name) struct name;
namespace weir {
WEIR_LOCAL_MESSAGES(WEIR_DECLARE_MESSAGE)
} // namespace weir
#undef WEIR_DECLARE_MESSAGE

#define WEIR_ALLOW_MESSAGE(name) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::name)
WEIR_LOCAL_MESSAGES(WEIR_ALLOW_MESSAGE)
#undef WEIR_ALLOW_MESSAGE

/// What was asked for, or why there is none.
template <class T>
struct caf::allowed_unsafe_message_type<weir::result<T>>
  : caf::allowed_unsafe_message_type<T> {};

namespace weir {

/// Converts our error to CAF's: category "weir", code, context. Failures become
/// CAF errors only here.
inline caf::error to_caf(const error& x) {
  return {static_cast<uint8_t>(x.code), caf::atom("weir"),
          caf::make_message(x.context)};
}

/// Converts back. Errors of other categories become `ec::cancelled`.
inline error from_caf(const caf::error& x) {
  if (x.category() != caf::atom("weir"))
    return fail(ec::cancelled, "an actor ended");
  std::string context;
  if (x.context().match_elements<std::string>())
    context = x.context().get_as<std::string>(0);
  return {static_cast<ec>(x.code()), std::move(context)};
}

auto inspect(auto& f, position& x) {
  return f(caf::meta::type_name("position"), x.upstream, x.epoch, x.seq);
}

/// Reads or writes the length and then the raw bytes. A length above the limit
/// of a frame is refused before memory is allocated.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, shared_bytes& x) {
  if constexpr (std::is_same_v<Inspector,
                               caf::detail::stringification_inspector>) {
    auto size = static_cast<uint64_t>(x.size());
    return f(caf::meta::type_name("shared_bytes"), size);
  } else if constexpr (Inspector::reads_state) {
    auto size = x.size();
    if (auto bad = f.begin_sequence(size))
      return bad;
    if (size > 0)
      if (auto bad = f.apply_raw(size, const_cast<uint8_t*>(x.data())))
        return bad;
    return f.end_sequence();
  } else {
    size_t size = 0;
    if (auto bad = f.begin_sequence(size))
      return bad;
    if (size > limits::frame_bytes_max)
      return caf::make_error(caf::sec::invalid_argument, "frame too large");
    bytes data(size);
    if (size > 0)
      if (auto bad = f.apply_raw(size, data.data()))
        return bad;
    x = shared_bytes{std::move(data)};
    return f.end_sequence();
  }
}

auto inspect(auto& f, frames_done& x) {
  return f(caf::meta::type_name("frames_done"), x.epoch, x.seqs, x.refused);
}

auto inspect(auto& f, frames_lost&) {
  return f(caf::meta::type_name("frames_lost"));
}

auto inspect(auto& f, frame_batch& x) {
  return f(caf::meta::type_name("frame_batch"), x.frames);
}

auto inspect(auto& f, get_status&) {
  return f(caf::meta::type_name("get_status"));
}

auto inspect(auto& f, status_field& x) {
  return f(caf::meta::type_name("status_field"), x.name, x.value);
}

auto inspect(auto& f, actor_status& x) {
  return f(caf::meta::type_name("actor_status"), x.name, x.kind, x.parent,
           x.state);
}

} // namespace weir

namespace weir::atproto {

/// A DID that cannot be parsed becomes the empty one, which is not routed.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stamped_frame& x) {
  auto repo = x.repo.str();
  auto kind = static_cast<uint8_t>(x.kind);
  if constexpr (std::is_same_v<Inspector,
                               caf::detail::stringification_inspector>) {
    return f(caf::meta::type_name("stamped_frame"), x.at, kind, repo, x.bytes);
  } else {
    auto bad = f(caf::meta::type_name("stamped_frame"), x.at, x.first_cursor,
                 x.relay, kind, repo, x.bytes);
    if constexpr (Inspector::writes_state) {
      auto parsed = did::parse(repo);
      x.repo = parsed ? std::move(*parsed) : did{};
      x.kind = kind > static_cast<uint8_t>(frame_kind::unknown)
                 ? frame_kind::unknown
                 : static_cast<frame_kind>(kind);
    }
    return bad;
  }
}

} // namespace weir::atproto

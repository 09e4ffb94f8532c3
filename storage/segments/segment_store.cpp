#include "storage/segments/segment_store.hpp"

#include "storage/log/apply_check.hpp"
#include "storage/log/page_filler.hpp"

#include <algorithm>
#include <limits>

namespace weir::storage {

namespace {

template <class T>
bool fits(const std::vector<T>& wanted, const T& x) {
  return wanted.empty() || std::ranges::find(wanted, x) != wanted.end();
}

content_state state_of(const segment_operation& op) {
  if (op.undecodable)
    return content_state::invalid;
  return op.body.empty() ? content_state::none : content_state::present;
}

/// A frame, decoded.
struct read_frame {
  op_id first;
  segment_transaction tx;
  std::vector<segment_hashes> hashes;
  std::shared_ptr<const stored_transaction> envelope;

  stored_operation make(size_t place, bool with_content) const {
    const auto& op = tx.ops[place];
    stored_operation out;
    out.id = first + place;
    out.in = envelope;
    out.scope = tx.streams[op.stream].scope;
    out.index = hashes[place].index;
    out.action = op.action;
    out.rkey = op.rkey;
    out.cid = op.id;
    out.hashes = {hashes[place].operation, hashes[place].before,
                  hashes[place].stream};
    out.content = state_of(op);
    if (with_content)
      out.body = op.body;
    return out;
  }
};

result<read_frame> decode(op_id first, const shared_bytes& payload) {
  auto tx = decode_transaction(payload);
  if (!tx)
    return tx.error();
  auto envelope = std::make_shared<stored_transaction>();
  static_cast<log_envelope&>(*envelope) = *tx;
  envelope->first = first;
  envelope->ops = tx->ops.size();
  for (const auto& op : tx->ops)
    if (tx->streams[op.stream].scope == commit_scope)
      envelope->commit = op.id;
  auto hashes = hashes_of(*tx);
  return read_frame{first, std::move(*tx), std::move(hashes),
                    std::move(envelope)};
}

/// Visits frames until `visit` answers false.
template <class Visit>
result<void> each_frame(segment_cursor from, Visit visit) {
  for (;;) {
    const auto more = from.next();
    if (!more)
      return more.error();
    if (!*more)
      return {};
    const auto frame = decode(from.first(), from.payload());
    if (!frame)
      return frame.error();
    from.count(frame->tx.ops.size());
    const auto on = visit(*frame);
    if (!on)
      return on.error();
    if (!*on)
      return {};
  }
}

} // namespace

result<std::unique_ptr<segment_store>>
segment_store::open(const segment_options& options, const clock& time) {
  std::unique_ptr<segment_store> out{
    new segment_store{time, options.streams_max}};
  auto files = segment_files::open(
    options,
    [&](op_id first, const shared_bytes& payload) -> result<size_t> {
      const auto tx = decode_transaction(payload);
      if (!tx)
        return tx.error();
      if (auto ok = out->heads_.advance(first, *tx); !ok)
        return ok.error();
      out->written_us_ = std::max(out->written_us_, tx->written_us);
      return tx->ops.size();
    });
  if (!files)
    return files.error();
  out->files_ = std::move(*files);
  return out;
}

// -- reading ------------------------------------------------------------------

result<std::optional<stored_operation>>
segment_store::get(const stream_name& stream, uint64_t index,
                   const read_bounds& bounds) const {
  auto one = bounds;
  one.ops_max = 1;
  one.looked_max = 1;
  const auto page
    = read(stream, index == 0 ? std::nullopt : std::optional{index - 1},
           std::nullopt, one);
  if (!page)
    return page.error();
  if (page->found.empty())
    return std::optional<stored_operation>{};
  return std::optional{page->found.front()};
}

result<operation_page>
segment_store::get_since(const stream_name& stream,
                         std::optional<uint64_t> after,
                         const read_bounds& bounds) const {
  return read(stream, after, std::nullopt, bounds);
}

result<operation_page>
segment_store::get_since_time(const stream_name& stream, int64_t timestamp_ms,
                              std::optional<uint64_t> after,
                              const read_bounds& bounds) const {
  return read(stream, after, timestamp_ms, bounds);
}

result<uint64_t> segment_store::next_index(const stream_name& stream) const {
  const auto* head = stream.branch == main_branch
                       ? heads_.find(stream.repo, stream.scope)
                       : nullptr;
  return head != nullptr ? head->next_index : uint64_t{0};
}

/// A frame of the stream from which on its operation `index` is found.
op_id segment_store::frame_before(const stream_name& stream,
                                  const segment_head& head,
                                  uint64_t index) const {
  if (index + 1 == head.next_index)
    return head.last;
  const auto& last = last_read_;
  return last.frame != 0 && last.stream.repo == stream.repo
             && last.stream.scope == stream.scope && last.index <= index
           ? last.frame
           : head.first;
}

result<operation_page>
segment_store::read(const stream_name& stream, std::optional<uint64_t> after,
                    std::optional<int64_t> timestamp_ms,
                    const read_bounds& bounds) const {
  page_filler page{bounds, after.value_or(0)};
  if (auto ok = page.ask(); !ok)
    return ok.error();
  const auto* head = stream.branch == main_branch
                       ? heads_.find(stream.repo, stream.scope)
                       : nullptr;
  const auto first = after ? *after + 1 : 0;
  if (head == nullptr || after == std::numeric_limits<uint64_t>::max()
      || first >= head->next_index)
    return page.take();
  const auto visit = [&](const read_frame& frame) -> result<bool> {
    if (auto ok = page.ask(); !ok)
      return ok.error();
    if (frame.tx.repo != stream.repo)
      return true;
    for (size_t i = 0; i < frame.tx.ops.size(); ++i) {
      const auto index = frame.hashes[i].index;
      if (frame.tx.streams[frame.tx.ops[i].stream].scope != stream.scope
          || index < first)
        continue;
      if (!page.may_look())
        return false;
      last_read_ = {stream, index, frame.first};
      if (timestamp_ms && frame.tx.time_us / 1000 < *timestamp_ms)
        page.pass(index);
      else if (!page.put(index, frame.make(i, bounds.with_content)))
        return false;
    }
    return frame.first < head->last;
  };
  auto ok = each_frame(files_->read_from(frame_before(stream, *head, first)),
                       visit);
  if (!ok)
    return ok.error();
  return page.take();
}

result<operation_page>
segment_store::get_since_id(op_id after, const operation_filter& filter,
                            const read_bounds& bounds) const {
  page_filler page{bounds, after};
  if (auto ok = page.ask(); !ok)
    return ok.error();
  if (after >= last_id())
    return page.take();
  const auto visit = [&](const read_frame& frame) -> result<bool> {
    if (auto ok = page.ask(); !ok)
      return ok.error();
    const bool of_repo = !filter.repo || *filter.repo == frame.tx.repo;
    for (size_t i = 0; i < frame.tx.ops.size(); ++i) {
      const auto id = frame.first + i;
      const auto& op = frame.tx.ops[i];
      if (id <= after)
        continue;
      if (!page.may_look())
        return false;
      if (!of_repo || !fits(filter.actions, op.action)
          || !fits(filter.scopes, frame.tx.streams[op.stream].scope))
        page.pass(id);
      else if (!page.put(id, frame.make(i, bounds.with_content)))
        return false;
    }
    return true;
  };
  auto ok = each_frame(files_->read_from(after + 1), visit);
  if (!ok)
    return ok.error();
  return page.take();
}

// -- writing ------------------------------------------------------------------

segment_transaction segment_store::transaction_of(
  const apply_request& request,
  const std::vector<indexed_operation>& staged) const {
  segment_transaction out;
  out.repo = request.repo;
  out.rev = request.rev;
  out.from = request.from;
  out.live = request.live;
  out.job = request.job;
  out.time_us = request.time_us;
  out.written_us = std::max(written_us_, clock_.wall_now().micros);
  for (const auto& x : staged) {
    const auto& op = x.operation;
    auto at = std::ranges::find(out.streams, op.scope, &segment_stream::scope);
    if (at == out.streams.end()) {
      segment_stream stream;
      stream.scope = op.scope;
      stream.index = x.index;
      if (const auto* head = heads_.find(request.repo, op.scope)) {
        stream.previous = head->hash;
        stream.before = head->operation;
      }
      at = out.streams.insert(at, std::move(stream));
    }
    out.ops.push_back({static_cast<uint32_t>(at - out.streams.begin()),
                       op.action, op.undecodable, op.rkey, op.id,
                       op.undecodable ? shared_bytes{} : op.content});
  }
  const auto hashes = hashes_of(out);
  for (size_t i = 0; i < out.ops.size(); ++i)
    out.streams[out.ops[i].stream].hash = hashes[i].stream;
  return out;
}

result<apply_receipt>
segment_store::append(const apply_request& request,
                      const std::vector<indexed_operation>& staged) {
  const auto tx = transaction_of(request, staged);
  if (!heads_.fits(tx))
    return refusal(apply_outcome::invalid_operation,
                   "this directory of segments has all the streams that it can "
                   "have");
  const auto first = files_->next();
  if (auto ok = files_->append(encode_transaction(tx), tx.ops.size(),
                               request.sync);
      !ok)
    return ok.error();
  written_us_ = tx.written_us;
  if (auto ok = heads_.advance(first, tx); !ok)
    return ok.error();
  apply_receipt out;
  out.first = first;
  out.last = last_id();
  for (const auto& stream : tx.streams) {
    const auto* head = heads_.find(request.repo, stream.scope);
    out.ends.push_back({stream.scope, head->next_index, head->hash});
  }
  return out;
}

} // namespace weir::storage

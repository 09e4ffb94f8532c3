#include "storage/log/operation_store.hpp"

#include "storage/format/account_fact.hpp"
#include "storage/format/hashes.hpp"
#include "storage/log/apply_check.hpp"

#include <algorithm>
#include <limits>

namespace weir::storage {

namespace {

bool is_cancelled(const apply_request& x) {
  return x.cancelled && x.cancelled();
}

/// Frees the store for the next transaction, also when a callback throws.
class busy_until_end {
public:
  explicit busy_until_end(std::atomic_flag& x) noexcept : busy_(x) {}

  ~busy_until_end() { busy_.clear(); }

  busy_until_end(const busy_until_end&) = delete;
  busy_until_end& operator=(const busy_until_end&) = delete;

private:
  std::atomic_flag& busy_;
};

apply_receipt cancelled() {
  return refusal(apply_outcome::cancelled, "the transaction was cancelled");
}

apply_receipt mismatch(const expected_stream& stream, uint64_t actual) {
  auto out = refusal(apply_outcome::revision_mismatch,
                     "the stream " + stream.scope + " is at revision "
                       + std::to_string(actual) + ", expected was "
                       + std::to_string(stream.revision));
  out.scope = stream.scope;
  out.expected = stream.revision;
  out.actual = actual;
  return out;
}

} // namespace

result<apply_receipt> operation_store::apply(const apply_request& request,
                                             const staging& stage) {
  if (busy_.test_and_set())
    return refusal(apply_outcome::lock_failed,
                   "another transaction of this store is under way");
  const busy_until_end end{busy_};
  return judge(request, stage);
}

result<apply_receipt> operation_store::judge(const apply_request& request,
                                             const staging& stage) {
  if (is_cancelled(request))
    return cancelled();
  const auto moved = check_revisions(request);
  if (!moved)
    return moved.error();
  if (*moved && !request.idempotent)
    return **moved;
  operation_staging to;
  const auto ok = stage(to);
  const auto staged = to.close();
  if (!staged)
    return refusal(apply_outcome::invalid_operation, staged.error().context);
  if (!ok)
    return refusal(apply_outcome::staging_failed, ok.error().context);
  if (auto bad = refusal_of_staged(request, *staged))
    return *bad;
  if (is_cancelled(request))
    return cancelled();
  if (*moved) {
    auto same = replay(request, *staged);
    if (!same)
      return same.error();
    return same->outcome == apply_outcome::replayed ? *same : **moved;
  }
  if (staged->empty())
    return apply_receipt{};
  if (const auto bad = check_commit(request, *staged); !bad)
    return bad.error();
  else if (*bad)
    return **bad;
  auto done = append(request, *staged);
  return done ? *done
              : refusal(apply_outcome::atomicity_failed,
                        to_string(done.error()));
}

/// The first stream that is not where the request expects it.
result<std::optional<apply_receipt>>
operation_store::check_revisions(const apply_request& request) const {
  for (const auto& stream : request.streams) {
    const auto next = next_index({request.repo, stream.scope});
    if (!next)
      return next.error();
    if (*next != stream.revision)
      return std::optional{mismatch(stream, *next)};
  }
  return std::optional<apply_receipt>{};
}

/// Commits of a repo have growing revs, and so every live operation belongs to
/// one commit. The same rev comes again only when the repo is fetched again.
result<std::optional<apply_receipt>> operation_store::check_commit(
  const apply_request& request,
  const std::vector<indexed_operation>& staged) const {
  for (const auto& x : staged) {
    if (x.operation.scope != commit_scope || x.index == 0)
      continue;
    const auto last = get({request.repo, x.operation.scope}, x.index - 1,
                          {.with_content = false});
    if (!last)
      return last.error();
    if (!*last || (*last)->in->rev < request.rev)
      continue;
    const auto digest = digest_of(request, x);
    if ((*last)->hashes && (*last)->hashes->operation == digest)
      return std::optional{refusal(apply_outcome::duplicate_operation,
                                   "the operation " + op_id_text(digest)
                                     + " is there already")};
    if ((*last)->in->rev > request.rev || request.from != provenance::resync)
      return std::optional{refusal(apply_outcome::invalid_operation,
                                   "a commit whose rev is not later than "
                                   "that of the one before")};
  }
  return std::optional<apply_receipt>{};
}

/// Whether exactly these operations are at their indices already, in one
/// transaction. Otherwise the outcome is not `replayed`.
result<apply_receipt> operation_store::replay(
  const apply_request& request,
  const std::vector<indexed_operation>& staged) const {
  auto out = refusal(apply_outcome::revision_mismatch, {});
  if (staged.empty())
    return out;
  for (size_t i = 0; i < staged.size(); ++i) {
    const auto& x = staged[i];
    const auto stored = get({request.repo, x.operation.scope}, x.index,
                            {.with_content = false});
    if (!stored)
      return stored.error();
    if (!*stored || !(*stored)->hashes
        || (*stored)->hashes->operation != digest_of(request, x))
      return out;
    const auto& in = *(*stored)->in;
    if (i == 0)
      out.first = (*stored)->id;
    if ((*stored)->id != out.first + i || in.first != out.first
        || in.ops != staged.size() || in.time_us != request.time_us
        || in.from != request.from || in.live != request.live)
      return out;
  }
  out.outcome = apply_outcome::replayed;
  out.last = out.first + staged.size() - 1;
  return out;
}

result<std::optional<account_header>>
operation_store::get_header(const atproto::did& repo, uint64_t revision,
                            const read_bounds& bounds) const {
  const stream_name commits{repo, std::string{commit_scope}};
  const auto next = next_index(commits);
  if (!next)
    return next.error();
  auto before = std::numeric_limits<op_id>::max();
  if (revision < *next) {
    const auto commit = get(commits, revision, bounds);
    if (!commit)
      return commit.error();
    if (!*commit)
      return fail(ec::not_found, "commit " + std::to_string(revision) + " of "
                                   + repo.str() + " was trimmed");
    before = (*commit)->id;
  }
  std::optional<account_header> out;
  for (const auto scope : {identity_scope, account_scope}) {
    const auto fact = last_fact({repo, std::string{scope}}, before, bounds);
    if (!fact)
      return fact.error();
    repo_row said;
    if (*fact && (!out || out->as_of < (*fact)->id)
        && read_fact(as_text((*fact)->body.view()), said))
      out = account_header{said.handle, said.account, (*fact)->id};
  }
  return out;
}

/// The last operation of a stream before an id.
result<std::optional<stored_operation>>
operation_store::last_fact(const stream_name& stream, op_id before,
                           const read_bounds& bounds) const {
  std::optional<stored_operation> out;
  std::optional<uint64_t> after;
  for (bool more = true; more;) {
    auto page = get_since(stream, after, {.cancelled = bounds.cancelled});
    if (!page)
      return page.error();
    more = page->more;
    after = page->through;
    for (auto& x : page->found) {
      if (x.id >= before)
        return out;
      if (x.content == content_state::present)
        out = std::move(x);
    }
  }
  return out;
}

} // namespace weir::storage

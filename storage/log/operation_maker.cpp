#include "storage/log/operation_maker.hpp"

#include "storage/log/log_blocks.hpp"
#include "storage/tables/row_access.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

error gone(op_id id, const char* what) {
  return fail(ec::storage_failure, std::string{what} + " of operation "
                                     + std::to_string(id) + " is missing");
}

bool is_collection(uint32_t scope) noexcept {
  return scope >= first_collection_id;
}

/// The place of a stream among those of a block.
std::optional<uint32_t> place_of(const log_block& block,
                                 const block_stream& stream) {
  for (uint32_t i = 0; i < block.streams.size(); ++i)
    if (block.streams[i].scope == stream.scope
        && block.streams[i].branch == stream.branch)
      return i;
  return std::nullopt;
}

} // namespace

const char* to_string(content_state x) noexcept {
  switch (x) {
    case content_state::present:
      return "present";
    case content_state::none:
      return "none";
    case content_state::invalid:
      return "invalid";
    case content_state::erased:
      return "erased";
    case content_state::deleted:
      return "deleted";
  }
  return "unknown";
}

void operation_maker::enter(op_id first, const log_block& block) {
  first_ = first;
  block_ = &block;
  parts_.assign(block.streams.size(), {});
  hashes_.assign(block.ops.size(), {});
  indices_.clear();
  auto made = std::make_shared<stored_transaction>();
  static_cast<log_envelope&>(*made) = block;
  made->first = first;
  made->ops = block.ops.size();
  std::vector<uint64_t> next;
  for (const auto& stream : block.streams)
    next.push_back(stream.first_index);
  for (const auto& op : block.ops) {
    indices_.push_back(next[op.stream]++);
    if (block.streams[op.stream].scope == commit_scope_id)
      made->commit = op.id;
  }
  transaction_ = std::move(made);
}

result<stored_operation> operation_maker::make(size_t place) {
  const auto& op = block_->ops[place];
  stored_operation out;
  out.id = first_ + place;
  out.in = transaction_;
  out.index = indices_[place];
  out.skip = op.skip;
  out.action = op.action;
  out.rkey = op.rkey;
  out.cid = op.id;
  if (auto ok = add_body(op, out); !ok)
    return ok.error();
  const auto of = part_of(op.stream);
  if (!of)
    return of.error();
  const auto erased = is_erased(block_->repo, out.id);
  if (!erased)
    return erased.error();
  const auto scope = block_->streams[op.stream].scope;
  const bool hidden = *erased && is_collection(scope);
  if (!(*of)->scope && !hidden)
    return gone(out.id, "the name of the collection");
  out.scope = (*of)->scope.value_or("");
  if (hidden)
    return out;
  if (auto ok = hash_stream(op.stream, **of); !ok)
    return ok.error();
  out.hashes = hashes_[place];
  return out;
}

/// The body is read first. So when it is gone, the chain says so already.
result<void> operation_maker::add_body(const block_operation& op,
                                       stored_operation& to) {
  const auto may_be_deleted = is_before_horizon(op.content);
  if (!may_be_deleted)
    return may_be_deleted.error();
  stored_content stored;
  if (with_content_ || *may_be_deleted) {
    auto read = contents_.read(op.content);
    if (!read)
      return read.error();
    stored = std::move(*read);
  }
  const bool lacks = with_content_ && op.content != 0 && !stored.erased
                     && stored.body.empty();
  if (lacks)
    erased_through_.erase(block_->repo);
  const auto erased = is_erased(block_->repo, to.id);
  if (!erased)
    return erased.error();
  if (*erased) {
    to.content = content_state::erased;
  } else if (lacks) {
    if (auto ok = check_trimmed(db_, to.id, to.id + 1); !ok)
      return gone(to.id, "the content");
    to.content = content_state::erased; // Since its block was read.
  } else if (stored.erased) {
    to.content = content_state::deleted;
  } else if (op.undecodable) {
    to.content = content_state::invalid;
  } else if (op.content != 0) {
    to.content = content_state::present;
    if (with_content_)
      to.body = std::move(stored.body);
  }
  return {};
}

/// Whether the content may be erased although its account is not.
result<bool> operation_maker::is_before_horizon(op_id content) {
  if (!replaced_through_) {
    const auto through = replaced_through(db_);
    if (!through)
      return through.error();
    replaced_through_ = *through;
  }
  return content < *replaced_through_;
}

result<bool> operation_maker::is_erased(const atproto::did& repo, op_id id) {
  auto known = erased_through_.find(repo);
  if (known == erased_through_.end()) {
    const auto through = load_erased_through(repo);
    if (!through)
      return through.error();
    known = erased_through_.emplace(repo, *through).first;
  }
  return id <= known->second;
}

result<op_id> operation_maker::load_erased_through(const atproto::did& repo) {
  const auto value = db_.get(encode_key(chain_key{repo}));
  if (!value)
    return value.error();
  if (!*value)
    return op_id{0};
  const auto stored = decode_chain(**value, names_);
  if (!stored)
    return stored.error();
  return stored->chain.erased_through;
}

result<operation_maker::part*> operation_maker::part_of(uint32_t stream) {
  auto& out = parts_[stream];
  if (!out.known) {
    const auto scope = block_->streams[stream].scope;
    out.scope = scope_name(names_, scope);
    if (!out.scope && !names_.was_given(scope))
      return fail(ec::storage_failure, "a log block names no known scope");
    out.known = true;
  }
  return &out;
}

/// Derives the hashes of all operations of one stream of the block.
result<void> operation_maker::hash_stream(uint32_t stream, part& of) {
  if (of.hashed)
    return {};
  const auto& in = block_->streams[stream];
  auto before = digest_before(stream);
  if (!before)
    return before.error();
  auto hash = in.previous;
  stream_tail tail;
  for (size_t i = 0; i < block_->ops.size(); ++i) {
    const auto& op = block_->ops[i];
    if (op.stream != stream)
      continue;
    tail = {indices_[i], digest_of(*block_, op, *of.scope, indices_[i])};
    hash = hasher_.stream({block_->repo.str(), *of.scope, in.branch,
                           indices_[i], op.skip, tail.operation, hash,
                           block_->time_us / 1000, op.action, op.rkey,
                           &op.id});
    hashes_[i] = {tail.operation, *before, hash};
    *before = tail.operation;
  }
  tails_[{block_->repo, in.scope, in.branch}] = tail;
  of.hashed = true;
  return {};
}

/// The digest of the operation before those that the block has of a stream;
/// nothing when the stream begins here, also anew after an erasing, and when
/// that operation was trimmed.
result<std::optional<atproto::digest>>
operation_maker::digest_before(uint32_t stream) {
  const auto& in = block_->streams[stream];
  if (in.previous == atproto::digest{})
    return std::optional<atproto::digest>{};
  const auto tail = tails_.find({block_->repo, in.scope, in.branch});
  if (tail != tails_.end() && tail->second.index + 1 == in.first_index)
    return std::optional{tail->second.operation};
  return read_digest_before(in);
}

result<std::optional<atproto::digest>>
operation_maker::read_digest_before(const block_stream& stream) {
  const auto& repo = block_->repo;
  auto range = range_of<stream_block_key>(repo, stream.scope, stream.branch);
  range.end = encode_key(stream_block_key{repo, stream.scope, stream.branch,
                                          stream.first_index});
  const auto row = db_.last_in(range);
  if (!row)
    return row.error();
  // Without a run, the operations before could have any id from 1 on.
  const auto run = *row ? decode_value<stream_run>((*row)->second)
                        : result<stream_run>{stream_run{}};
  const auto at = *row ? decode_key<stream_block_key>((*row)->first)
                       : result<stream_block_key>{stream_block_key{}};
  if (!run || !at)
    return run ? at.error() : run.error();
  const auto block = load_block(db_, partition_, run->block);
  if (!block)
    return block.error();
  if (!*block || at->first_index + run->count != stream.first_index) {
    if (auto ok = check_trimmed(db_, run->block + 1, run->block + 2); !ok)
      return gone(first_, "the stream before");
    return std::optional<atproto::digest>{};
  }
  const auto place = place_of(**block, stream);
  if (!place)
    return gone(first_, "the block before");
  const auto last = std::find_if((*block)->ops.rbegin(), (*block)->ops.rend(),
                                 [&](const block_operation& x) {
                                   return x.stream == *place;
                                 });
  const auto scope = scope_name(names_, stream.scope).value_or("");
  return std::optional{
    digest_of(**block, *last, scope, stream.first_index - 1)};
}

atproto::digest operation_maker::digest_of(const log_block& block,
                                           const block_operation& op,
                                           std::string_view scope,
                                           uint64_t index) {
  return hasher_.operation(
    {block.repo.str(), block.rev, scope, op.rkey, op.action, &op.id,
     origin_of(scope, block.from, block.job, index)});
}

} // namespace weir::storage

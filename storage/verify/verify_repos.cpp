#include "atproto/frame.hpp"
#include "atproto/mst.hpp"
#include "storage/format/account_fact.hpp"
#include "storage/log/repo_guards.hpp"
#include "storage/tables/filter_table.hpp"
#include "storage/tables/head_cursor.hpp"
#include "storage/verify/verify_context.hpp"

#include <algorithm>

/// The passes over the rows of repos, and the rebuilt trees (I2).
namespace weir::storage {

namespace {

/// True when the tree cannot be rebuilt: some heads are left out by a filter,
/// or the filter is unknown.
bool is_filtered(const verify_context& x, const atproto::did& repo,
                 const repo_row& row) {
  const auto kept = kept_collections(x.db, x.root(), repo, row);
  return !kept || !*kept || !(*kept)->empty();
}

/// I2: the root over all record heads is the data root of the chain.
void check_root(verify_context& x, const atproto::did& repo,
                const chain_row& chain) {
  head_cursor heads{x.db, x.names, x.options.partition, repo, chain};
  atproto::mst::builder tree;
  std::string last;
  for (;;) {
    const auto page = heads.next();
    if (!page) {
      x.damaged(repo.str(), page.error());
      return;
    }
    if (page->empty())
      break;
    for (const auto& head : *page) {
      auto path = head.path();
      if (path <= last) {
        x.find("I2", repo.str(), "its records are not in order at " + path);
        return;
      }
      tree.add(path, head.head.id);
      last = std::move(path);
    }
  }
  x.count("roots rebuilt");
  if (tree.finish() != chain.data)
    x.find("I2", repo.str(),
           "the tree over its records has another root than "
             + chain.data.to_text());
}

/// A noted position of a stream must not be ahead of what is known of the
/// upstream.
void check_position(verify_context& x, const atproto::did& repo,
                    const position& at) {
  const auto known = x.upstream_epochs.find(at.upstream);
  if (at == position{})
    return;
  if (known == x.upstream_epochs.end())
    x.wrong(repo, "it has a position of upstream " + std::to_string(at.upstream)
                    + ", which there is not");
  else if (at.epoch == 0 || at.epoch > known->second)
    x.wrong(repo, "it has a position of an epoch that upstream "
                    + std::to_string(at.upstream) + " was never in");
}

/// Checks the rows that every repo has, or that its own row implies.
void check_company(verify_context& x, const atproto::did& repo,
                   const repo_row& row) {
  const auto index
    = x.db.get(encode_key(repo_by_status_key{row.status, due_of(row), repo}));
  if (!index)
    x.damaged(repo.str(), index.error());
  else if (!*index)
    x.wrong(repo, "the status index lacks it");
  else if (!(*index)->empty())
    x.wrong(repo, "its row in the status index has a value");
  if (!x.row_at<member_row>(member_key{default_dataset, repo}, repo.str()))
    x.wrong(repo, "it has a row and is in no dataset");
  if ((!row.pds.empty() || !row.handle.empty())
      && !x.row_at<identity_row>(identity_key{repo}, repo.str()))
    x.wrong(repo, "it has a host or handle, but no identity");
  check_position(x, repo, row.fcsr);
  check_position(x, repo, row.words.host_at);
  for (const auto& word : row.words.relays)
    check_position(x, repo, word.at);
}

void check_repo(verify_context& x, const repo_key& key, const repo_row& row) {
  const auto& repo = key.repo;
  x.count("repos");
  check_company(x, repo, row);
  const bool syncing = row.status == repo_status::syncing;
  if (syncing != (row.resync_id != 0))
    x.wrong(repo, syncing ? "it is syncing without a job"
                          : "it has a job that is over");
  if (row.account != combined(row.words))
    x.wrong(repo, std::string{"it is "} + to_string(row.account)
                    + ", but nothing that was said of it gives that");
  const auto chain = x.chain_of(repo);
  if (!chain && fact_json(row) != fact_json({}))
    x.wrong(repo,
            "its row says " + fact_json(row) + ", no fact in the log does");
  if (row.last_indexed_rev > (chain ? chain->rev : atproto::tid{}))
    x.wrong(repo, "it was indexed at a later revision than its chain is at");
  if (row.erased_through != (chain ? chain->erased_through : 0))
    x.wrong(repo, "row and chain differ in what is erased");
  if (row.status == repo_status::synced && chain && chain->data.defined()
      && !is_filtered(x, repo, row))
    check_root(x, repo, *chain);
}

void check_index(verify_context& x, const repo_by_status_key& key) {
  const auto row = x.row_at<repo_row>(repo_key{key.repo}, key.repo.str());
  if (!row || row->status != key.status || due_of(*row) != key.due)
    x.wrong(key.repo,
            std::string{"the status index has it as "} + to_string(key.status));
}

void check_chain(verify_context& x, const atproto::did& repo) {
  const auto chain = x.chain_of(repo);
  if (!chain)
    return;
  x.count("chains");
  for (const auto& stream : chain->streams) {
    const auto id = scope_id(x.names, stream.scope);
    if (!id
        || (!may_be_trimmed(x, stream)
            && !x.db.scan(range_of<stream_block_key>(repo, *id, main_branch))
                  .valid()))
      x.wrong(repo.str() + " " + stream.scope,
              "the chain has a stream without operations");
  }
  if (chain->streams.empty() && chain->erased_through == 0)
    x.wrong(repo, "it has a chain of nothing");
  if (std::adjacent_find(chain->streams.begin(), chain->streams.end(),
                         [](const stream_head& one, const stream_head& next) {
                           return one.scope >= next.scope;
                         })
      != chain->streams.end())
    x.wrong(repo, "the streams of its chain are not in order");
  if (chain->rev.defined() != chain->data.defined()
      || chain->rev.defined() != chain->commit.defined())
    x.wrong(repo, "the chain is only half there");
  const auto row = x.row_at<repo_row>(repo_key{repo}, repo.str());
  if (!row && (chain->rev.defined() || chain->record_count != 0))
    x.wrong(repo, "it has a chain with records, but no row");
  if (chain->index_base != 0 && chain->erased_through == 0)
    x.wrong(repo, "its chain has an index base, but nothing of it was erased");
  if (chain->erased_through > x.last_id)
    x.wrong(repo, "more is erased than was ever written");
}

void check_stream_row(verify_context& x, const chain_key& key) {
  const auto chain = x.chain_of(key.repo);
  const auto name = scope_name(x.names, key.scope);
  const auto* stream = chain && name ? chain->find(*name) : nullptr;
  if (stream == nullptr || !stream->apart || key.branch != main_branch)
    x.wrong(key.repo, "it has a stream that its chain lacks");
}

void check_chain_row(verify_context& x, const chain_key& key) {
  if (key == chain_key{key.repo})
    check_chain(x, key.repo);
  else
    check_stream_row(x, key);
}

void check_erasure(verify_context& x, const erasure_key& key,
                   const erasure_row& row) {
  const auto chain = x.chain_of(key.repo);
  if (!chain || chain->erased_through != row.through)
    x.wrong(key.repo, "what is being erased is not what its chain says");
  if (!are_apart(row.content)
      || (!row.content.empty() && row.content.back().last > x.last_id))
    x.wrong(key.repo, "it has spans to compact that are not in the log");
  const auto resume = as_text(row.resume);
  const auto head = decode_key<record_head_key>(resume);
  const auto run = decode_key<stream_block_key>(resume);
  const bool own
    = (row.stage == erasure_stage::heads && head && head->repo == key.repo)
      || (row.stage == erasure_stage::streams && run && run->repo == key.repo);
  if (!resume.empty() && !own)
    x.wrong(key.repo, "its erasing continues at a row of something else");
}

/// Reports heads of a collection that the repo's chain does not have.
void check_uncounted_heads(verify_context& x, const record_head_key& of,
                           const chain_row* chain, bool named) {
  x.each_row<record_head, record_head_key>(
    range_of<record_head_key>(x.options.partition, of.repo, of.collection),
    [&](const record_head_key& key, const record_head& head) {
      if (named && chain != nullptr && chain->erased_through != 0
          && head.op <= chain->erased_through)
        verify_left_over(x, key, key.repo.str());
      else
        x.wrong(key.repo, "it has record heads that no chain counts");
    });
}

/// Heads of one repo and collection are neighbours, so each group is checked
/// once.
void check_head_owners(verify_context& x) {
  auto rows = x.db.scan(range_of<record_head_key>(x.options.partition));
  while (rows.valid()) {
    const auto key = decode_key<record_head_key>(rows.key());
    if (!key) {
      x.damaged("record_head", key.error());
      rows.next();
      continue;
    }
    const auto chain = x.chain_of(key->repo);
    const auto name = x.names.name_of(key->collection);
    if (!chain || !name || chain->find(*name) == nullptr)
      check_uncounted_heads(x, *key, chain.get(), name.has_value());
    rows.seek(
      range_of<record_head_key>(x.options.partition, key->repo, key->collection)
        .end);
  }
  if (auto ok = rows.status(); !ok)
    x.damaged("record_head", ok.error());
}

/// I6: for each reference, the head that its operation wrote uses it.
void check_reference(verify_context& x, const content_reference_key& key,
                     const counter&) {
  x.count("content references");
  const auto unwanted = [&] {
    x.find("I6", "operation " + std::to_string(key.id),
           "a content reference stands that no record wants");
  };
  const auto [first, block] = x.block_holding(key.id);
  if (!block || key.partition != x.options.partition)
    return unwanted();
  const auto& op = block->ops[key.id - first];
  const auto head = x.row_at<record_head>(
    record_head_key{
      key.partition, block->repo, block->streams[op.stream].scope, {op.rkey}},
    block->repo.str());
  if (!head || head->op != key.id || !head->referenced
      || short_hash_of(head->id) != key.content)
    unwanted();
}

/// The chain must have the stream, unless its stream blocks are still to be
/// erased.
void check_holder(verify_context& x, const collection_member_key& key,
                  const holder_row& row) {
  if (key.partition != x.options.partition)
    x.wrong(key.repo,
            "it is listed as holding a collection in another partition");
  const auto chain = x.chain_of(key.repo);
  const auto name = x.names.name_of(key.collection);
  const auto* stream = chain && name ? chain->find(*name) : nullptr;
  const bool waits
    = stream == nullptr && name
      && x.db.scan(range_of<stream_block_key>(key.repo, key.collection))
           .valid();
  if ((stream == nullptr && !waits)
      || row.holds != (stream != nullptr && stream->records != 0))
    x.wrong(key.repo,
            "it is listed as holding a collection that it does not hold, or "
            "the other way round");
  const auto block = x.block_holding(row.since).block;
  const op_id erased = chain ? chain->erased_through : 0;
  const bool trimmed = !block && row.since < x.whole_from;
  const bool is_own = trimmed || (block && block->repo == key.repo);
  if (waits ? row.since > erased : !is_own || row.since <= erased)
    x.wrong(key.repo, "it is listed as holding a collection since operation "
                        + std::to_string(row.since) + ", which is not its own");
}

template <table_key Key>
void check_has_row(verify_context& x, const Key& key, const char* what) {
  if (!x.row_at<repo_row>(repo_key{key.repo}, key.repo.str()))
    x.wrong(key.repo, std::string{what} + " without a row");
}

void check_member(verify_context& x, const member_key& key, const member_row&) {
  check_has_row(x, key, "it is a member of a dataset");
  if (key.dataset != default_dataset)
    x.wrong(key.repo, "it is in a dataset that does not exist");
}

/// A waiting frame must be a #commit or #sync as it was received.
void check_waiting(verify_context& x, const sync_buffer_key& key,
                   const waiting_row& row) {
  check_has_row(x, key, "it has waiting commits");
  const auto event = atproto::decode_frame(row.frame.value);
  const auto is_of = [&](const auto& said) {
    return said.repo == key.repo;
  };
  const auto* commit
    = event ? std::get_if<atproto::commit_event>(&*event) : nullptr;
  const auto* sync
    = event ? std::get_if<atproto::sync_event>(&*event) : nullptr;
  if (!(commit && is_of(*commit)) && !(sync && is_of(*sync)))
    x.wrong(key.repo, "what waits at " + std::to_string(key.number)
                        + " is no commit of it");
}

} // namespace

void verify_repos(verify_context& x) {
  x.all_rows<repo_row, repo_key>(check_repo);
  x.all_keys<repo_by_status_key>(check_index);
  x.all_keys<chain_key>(check_chain_row);
  x.all_rows<erasure_row, erasure_key>(check_erasure);
  check_head_owners(x);
  x.all_rows<counter, content_reference_key>(check_reference);
  x.all_rows<holder_row, collection_member_key>(check_holder);
  x.all_rows<member_row, member_key>(check_member);
  x.all_rows<waiting_row, sync_buffer_key>(check_waiting);
}

} // namespace weir::storage

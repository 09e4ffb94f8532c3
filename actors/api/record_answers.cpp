#include "actors/api/record_answers.hpp"

#include "actors/api/answers.hpp"
#include "actors/support/state_words.hpp"
#include "storage/log/content_reader.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/log/record_history.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/head_cursor.hpp"
#include "storage/tables/row_access.hpp"
#include "wire/operations_api.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

using storage::content_state;
using fate = storage::past_record::fate;

net::http_reply no_record(const std::string& uri, const std::string& why) {
  return net::error_reply(404, "RecordNotFound", uri + why);
}

std::string uri_of(const atproto::did& repo, const record_path& x) {
  return "at://" + repo.str() + '/' + x.collection + '/' + x.rkey;
}

/// 404 when nothing of the repo may be answered.
std::optional<net::http_reply>
refusal_of(const result<store_readers::repo_rows>& rows,
           const atproto::did& repo) {
  if (!rows)
    return problem(rows.error());
  if (!rows->row)
    return net::error_reply(404, "RepoNotFound",
                            repo.str() + " is not tracked");
  if (rows->row->account != storage::account_status::active)
    return net::error_reply(404, "RepoInactive",
                            "the account " + repo.str() + " is "
                              + std::string{account_word(rows->row->account)});
  return std::nullopt;
}

/// The same after reading: what was read may have been erased meanwhile.
/// @param before What the chain was before that.
std::optional<net::http_reply> refusal_after(const store_readers& store,
                                             const atproto::did& repo,
                                             const storage::chain_row& before) {
  const auto rows = store.load_repo(repo);
  if (auto refused = refusal_of(rows, repo))
    return refused;
  const auto erased
    = rows->chain != nullptr ? rows->chain->erased_through : 0;
  if (erased == before.erased_through)
    return std::nullopt;
  return net::error_reply(404, "RepoNotFound",
                          repo.str() + " was erased meanwhile");
}

/// A current record with its content.
struct read_record {
  std::string collection;
  std::string rkey;
  storage::record_head head;
  uint64_t id = 0;
  content_state content = content_state::none;
  shared_bytes body;
};

/// Reads the contents of heads.
class head_reader {
public:
  head_reader(const context& shared, const atproto::did& repo)
    : store_(shared.stores.of(repo)), numbers_(shared.home_of(repo).numbers),
      contents_(store_.db, store_.key_partition) {}

  result<read_record> read(std::string collection, std::string rkey,
                           const storage::record_head& head,
                           bool with_content) {
    read_record out{std::move(collection), std::move(rkey), head, 0, {}, {}};
    const auto id = numbers_.id_of(head.op);
    if (!id)
      return id.error();
    out.id = *id;
    if (head.content == 0) {
      auto why = state_without_bytes(head.op);
      if (!why)
        return why.error();
      out.content = *why;
      return out;
    }
    out.content = content_state::present;
    if (!with_content)
      return out;
    auto body = contents_.read_one(head.content);
    if (!body)
      return body.error();
    // Otherwise it is being erased, and the whole answer is refused.
    out.content = body->empty() ? content_state::erased : out.content;
    out.body = std::move(*body);
    return out;
  }

private:
  /// The operation says why no bytes were stored.
  result<content_state> state_without_bytes(storage::op_id op) const {
    const storage::log_reader log{store_.db, store_.names,
                                  store_.key_partition};
    const auto entry = log.find(op);
    if (!entry)
      return entry.error();
    const bool invalid
      = *entry != nullptr && (*entry)->ops[op - (*entry)->first].undecodable;
    return invalid ? content_state::invalid : content_state::none;
  }

  const store_readers& store_;
  const wire::event_numbers& numbers_;
  storage::content_reader contents_;
};

wire::record_view view_of(const atproto::did& repo, const read_record& x) {
  wire::record_view out;
  out.cid = &x.head.id;
  out.did = repo.str();
  out.collection = x.collection;
  out.rkey = x.rkey;
  out.rev = x.head.rev;
  out.id = x.id;
  out.content = to_string(x.content);
  out.body = x.body.view();
  return out;
}

/// A page of records, and whether there are more.
struct records_page {
  std::vector<read_record> records;
  bool more = false;
};

result<records_page> read_page(const context& shared, const atproto::did& repo,
                               const storage::chain_row& chain,
                               const records_request& x) {
  const auto& store = shared.stores.of(repo);
  storage::head_cursor heads{store.db, store.names, store.key_partition, repo,
                             chain};
  if (!x.after_collection.empty())
    heads.seek_after(x.after_collection, x.after_rkey);
  else if (!x.collection.empty())
    heads.seek_after(x.collection, "");
  const auto found = heads.next(x.limit + 1);
  if (!found)
    return found.error();
  records_page out;
  head_reader contents{shared, repo};
  size_t bytes = 0;
  for (const auto& each : *found) {
    if (!x.collection.empty() && each.collection != x.collection)
      break;
    out.more = out.records.size() == x.limit;
    if (out.more)
      break;
    auto record = contents.read(std::string{each.collection}, each.rkey,
                                each.head, x.with_content);
    if (!record)
      return record.error();
    bytes += record->body.size();
    out.more = bytes > limits::api_page_bytes_max && !out.records.empty();
    if (out.more)
      break;
    out.records.push_back(std::move(*record));
  }
  return out;
}

std::string cursor_of(const records_page& x) {
  if (!x.more)
    return {};
  return x.records.back().collection + '/' + x.records.back().rkey;
}

net::http_reply unknown_history(const std::string& uri,
                                const storage::past_record& x,
                                atproto::tid rev) {
  auto why = uri + " at " + rev.str() + " is not known: ";
  if (!x.as_of.defined() && !x.known_from.defined())
    why += "the repo was not fetched yet";
  else if (!x.as_of.defined())
    why += "its log begins with " + x.known_from.str();
  else if (!x.known_from.defined())
    why += "the repo is being fetched, and is known up to " + x.as_of.str();
  else
    why += "it was fetched anew at " + x.known_from.str()
           + ", and is known up to " + x.as_of.str() + " before that";
  return net::error_reply(404, "HistoryUnknown", why);
}

net::http_reply past_version(const context& shared, const atproto::did& repo,
                             const record_path& path,
                             const storage::past_record& x) {
  const auto& op = *x.operation;
  const auto id = shared.home_of(repo).numbers.id_of(op.id);
  if (!id)
    return problem(id.error());
  wire::record_view out;
  out.cid = &op.cid;
  out.did = repo.str();
  out.collection = path.collection;
  out.rkey = path.rkey;
  out.rev = op.in->rev;
  out.id = *id;
  out.content = to_string(op.content);
  out.body = op.body.view();
  out.as_of = x.as_of;
  return written(wire::append_record, out);
}

net::http_reply past_answer(const context& shared, const atproto::did& repo,
                            const record_path& path,
                            const storage::past_record& x, atproto::tid rev) {
  const auto uri = uri_of(repo, path);
  switch (x.what) {
    case fate::present:
      return past_version(shared, repo, path, x);
    case fate::removed:
      return no_record(uri,
                       (x.operation->in->from == storage::provenance::resync
                          ? " was deleted, or no longer kept, before a fetch at "
                          : " was deleted at ")
                         + x.operation->in->rev.str());
    case fate::absent:
      return no_record(uri, " did not exist at " + rev.str());
    case fate::unknown:
      return unknown_history(uri, x, rev);
    case fate::trimmed:
      return net::error_reply(404, "HistoryUnknown",
                              uri + " at " + rev.str()
                                + " is not known: older versions were removed "
                                  "from the log (log_retention)");
    case fate::too_long:
      break;
  }
  return net::error_reply(
    400, "HistoryTooLong",
    uri + " at " + rev.str() + " is not among the "
      + std::to_string(limits::operations_looked_max)
      + " operations of its collection next to this rev; read them all with "
        "/v1/repos/:did/ops");
}

} // namespace

net::http_reply records_reply(const context& shared, const atproto::did& repo,
                              const records_request& x) {
  const auto& store = shared.stores.of(repo);
  const auto before = store.load_repo(repo);
  if (auto refused = refusal_of(before, repo))
    return std::move(*refused);
  const storage::chain_row none;
  const auto& chain = before->chain != nullptr ? *before->chain : none;
  const auto page = read_page(shared, repo, chain, x);
  if (!page)
    return problem(page.error());
  if (auto refused = refusal_after(store, repo, chain))
    return std::move(*refused);
  std::vector<wire::record_view> views;
  for (const auto& each : page->records)
    views.push_back(view_of(repo, each));
  return written(wire::append_records,
                 wire::records_view{
                   repo.str(), storage::to_string(before->row->status),
                   chain.rev, views, cursor_of(*page)});
}

result<record_path> parse_record_path(const std::string& collection,
                                      const std::string& rkey) {
  if (!atproto::valid_nsid(collection))
    return fail(ec::invalid_argument, "the collection must be an NSID");
  if (!atproto::valid_record_key(rkey))
    return fail(ec::invalid_argument, "this is no record key");
  return record_path{collection, rkey};
}

net::http_reply record_reply(const context& shared, const atproto::did& repo,
                             const record_path& path) {
  const auto& store = shared.stores.of(repo);
  const auto before = store.load_repo(repo);
  if (auto refused = refusal_of(before, repo))
    return std::move(*refused);
  const auto absent = no_record(uri_of(repo, path), " does not exist");
  const auto collection = store.names.id_of(path.collection);
  if (!collection || before->chain == nullptr)
    return absent;
  const auto& chain = *before->chain;
  const auto head = storage::load_row<storage::record_head>(
    store.db, storage::record_head_key{
                store.key_partition, repo, *collection, {path.rkey}});
  if (!head)
    return problem(head.error());
  if (!*head || (*head)->op <= chain.erased_through)
    return absent;
  const auto record = head_reader{shared, repo}.read(path.collection, path.rkey,
                                                     **head, true);
  if (!record)
    return problem(record.error());
  if (auto refused = refusal_after(store, repo, chain))
    return std::move(*refused);
  auto view = view_of(repo, *record);
  view.as_of = std::max(chain.rev, record->head.rev);
  return written(wire::append_record, view);
}

net::http_reply past_record_reply(const context& shared,
                                  const atproto::did& repo,
                                  const record_path& path, atproto::tid rev,
                                  const std::function<bool()>& cancelled) {
  const auto& store = shared.stores.of(repo);
  storage::read_bounds bounds;
  bounds.cancelled = cancelled;
  const storage::record_history history{store.db, store.names,
                                        store.key_partition};
  const auto found
    = history.at(repo, path.collection, path.rkey, rev, bounds);
  if (!found)
    return problem(found.error());
  if (auto refused = refusal_of(store.load_repo(repo), repo))
    return std::move(*refused);
  if (found->operation && found->operation->content == content_state::erased)
    return net::error_reply(404, "RepoNotFound",
                            repo.str() + " was erased meanwhile");
  return past_answer(shared, repo, path, *found, rev);
}

} // namespace weir::actors

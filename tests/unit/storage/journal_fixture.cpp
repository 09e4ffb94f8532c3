#include "tests/unit/storage/journal_fixture.hpp"

#include "atproto/commit.hpp"
#include "atproto/mst.hpp"
#include "storage/disk/log_scan.hpp"
#include "storage/format/account_fact.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace weir::tests {

using namespace storage;

// -- test_store ---------------------------------------------------------------

namespace {

/// Takes a string with its length before it off a batch of LevelDB's.
/// @returns the length
size_t take_string(std::string_view& from) {
  size_t size = 0;
  for (unsigned shift = 0; !from.empty(); shift += 7) {
    const auto part = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    size |= size_t{part & 0x7fu} << shift;
    if (part < 0x80)
      break;
  }
  from.remove_prefix(std::min(size, from.size()));
  return size;
}

/// A batch is a sequence number, the number of its rows in four bytes, and its
/// rows: 1, a key and a value, or 0 and a key.
void count_batch(std::string_view x, test_store::logged& out) {
  constexpr size_t header = 12;
  ++out.batches;
  for (x.remove_prefix(std::min(header, x.size())); !x.empty(); ++out.rows) {
    const bool has_value = x.front() == 1;
    x.remove_prefix(1);
    out.bytes += take_string(x);
    if (has_value)
      out.bytes += take_string(x);
  }
}

} // namespace

test_store::test_store(committer_options options)
  : below_(&disk), options_(options) {
  reopen();
}

test_store::test_store(disk_env& below, committer_options options,
                       size_t write_buffer_bytes)
  : below_(&below), options_(options), write_buffer_bytes_(write_buffer_bytes) {
  // nop
}

void test_store::close() {
  writer.reset();
  names.reset();
  db.reset();
}

result<void> test_store::try_open() {
  close();
  database_options how;
  how.directory = "/store";
  how.random = random_.get();
  how.disk = below_;
  how.write_buffer_bytes = write_buffer_bytes_;
  auto opened = database::open(how);
  if (!opened)
    return opened.error();
  db = std::move(*opened);
  auto known = collection_table::load(*db, names_bytes_max);
  if (!known)
    return known.error();
  names = std::move(*known);
  auto made = committer::open(*db, *names, time, options_);
  if (!made)
    return made.error();
  writer = std::move(*made);
  return {};
}

void test_store::reopen() {
  const auto ok = try_open();
  ASSERT_TRUE(ok) << to_string(ok.error());
}

commit_result test_store::commit(journal_batch group) {
  auto out = writer->commit(group);
  if (!out) {
    ADD_FAILURE() << to_string(out.error());
    return {};
  }
  for (const auto& receipt : out->receipts)
    EXPECT_EQ(receipt.outcome, update_outcome::done) << receipt.reason;
  return std::move(*out);
}

update_receipt test_store::commit(repo_update update) {
  journal_batch group;
  group.updates.push_back(std::move(update));
  auto out = commit(std::move(group));
  return out.receipts.empty() ? update_receipt{} : out.receipts.front();
}

std::string test_store::findings(verify_options options) const {
  const auto report = verify_store(*db, options);
  if (!report)
    return to_string(report.error());
  std::string out;
  for (const auto& x : report->findings)
    out += x.invariant + " " + x.where + ": " + x.sentence + "\n";
  return out;
}

test_store::logged test_store::in_logs() const {
  logged out;
  for (const auto& name : disk.names()) {
    if (!name.ends_with(".log"))
      continue;
    const auto all = disk.read(name);
    log_scanner scanner{[&](std::string_view x) { count_batch(x, out); },
                        [](std::string_view) { return true; }};
    for (size_t at = 0; at < all.size(); at += log_file_block_size)
      scanner.feed(std::string_view{all}.substr(at, log_file_block_size),
                   at + log_file_block_size >= all.size());
    EXPECT_FALSE(scanner.torn() || scanner.damage()) << name;
  }
  return out;
}

std::vector<atproto::did>
test_store::holders(std::string_view collection) const {
  std::vector<atproto::did> out;
  const auto id = names->id_of(collection);
  if (!id)
    return out;
  auto rows = db->scan(range_of<collection_member_key>(uint16_t{0}, *id));
  for (; rows.valid(); rows.next())
    if (decode_value<holder_row>(rows.value())->holds)
      out.push_back(decode_key<collection_member_key>(rows.key())->repo);
  return out;
}

void test_store::put_raw(const std::string& key, const std::string& value) {
  write_batch batch;
  batch.put(key, value);
  ASSERT_TRUE(db->write(batch, sync_mode::durable));
}

void test_store::erase_raw(const std::string& key) {
  write_batch batch;
  batch.erase(key);
  ASSERT_TRUE(db->write(batch, sync_mode::durable));
}

std::string test_store::get_raw(const std::string& key) const {
  auto value = db->get(key);
  EXPECT_TRUE(value && *value) << "no such row";
  return value && *value ? **value : std::string{};
}

// -- test_account -------------------------------------------------------------

namespace {

shared_bytes share(const std::string& x) {
  return shared_bytes::copy_of(as_bytes(x));
}

const atproto::private_key& signing_key() {
  static const auto key = [] {
    const auto random = seeded_random(1);
    return atproto::private_key::generate(atproto::curve::k256, *random);
  }();
  return key;
}

} // namespace

atproto::cid cid_of(const std::string& body) {
  return atproto::cid::of_dag_cbor(as_bytes(body));
}

std::string numbered(const std::string& prefix, size_t n) {
  const auto digits = std::to_string(n);
  return prefix + std::string(6 - digits.size(), '0') + digits;
}

test_account::test_account(char letter)
  : repo(atproto::did::trusted("did:plc:" + std::string(24, letter))) {
  // nop
}

repo_update test_account::blank() const {
  repo_update out;
  out.repo = repo;
  out.base = chain;
  out.commit_revision = chain ? chain->commit_revision() : 0;
  if (known)
    out.old_status = row.status;
  return out;
}

repo_update test_account::appear(repo_status status) {
  auto out = blank();
  row.status = status;
  row.resync_id = status == repo_status::syncing ? 77 : 0;
  out.row = row;
  if (!known)
    out.member = member_row{};
  known = true;
  return out;
}

atproto::cid test_account::root() const {
  std::vector<atproto::mst::leaf> leaves;
  for (const auto& [path, body] : records)
    leaves.push_back({path, cid_of(body)});
  return atproto::mst::root_of(leaves);
}

new_operation test_account::commit_operation() const {
  new_operation out;
  out.scope = commit_scope;
  auto block = atproto::encode_signed_commit(
    {repo, atproto::tid{rev}, root(), {}, {}}, signing_key());
  out.id = atproto::cid::of_dag_cbor(block);
  out.content = shared_bytes{std::move(block)};
  return out;
}

void test_account::apply(const std::vector<change>& changes, bool live,
                         repo_update& to) {
  auto& tx = to.transactions.emplace_back();
  tx.rev = atproto::tid{++rev};
  tx.from = live ? provenance::live : provenance::resync;
  tx.live = live;
  tx.job = live ? 0 : row.resync_id;
  tx.time_us = tx.rev.time().micros;
  if (live && to.transactions.size() == 1 && chain)
    tx.passed = chain->passed;
  for (const auto& one : changes) {
    new_operation op;
    const auto parts = atproto::split_path(one.path);
    op.scope = parts.collection;
    op.rkey = parts.rkey;
    const bool was_there = records.contains(one.path);
    if (one.body.empty()) {
      op.action = atproto::op_action::remove;
      records.erase(one.path);
    } else {
      op.action
        = was_there ? atproto::op_action::update : atproto::op_action::create;
      op.id = cid_of(one.body);
      op.content = share(one.body);
      op.undecodable = one.undecodable;
      records[one.path] = one.body;
    }
    tx.ops.push_back(std::move(op));
  }
  if (live) {
    tx.ops.push_back(commit_operation());
    to.chain = chain_step{tx.rev, root(), tx.ops.back().id};
  }
}

repo_update test_account::commit(const std::vector<change>& changes) {
  return commits({changes});
}

repo_update test_account::commits(const std::vector<std::vector<change>>& all) {
  auto out = blank();
  for (const auto& changes : all)
    apply(changes, true, out);
  return out;
}

repo_update test_account::pass() {
  auto out = blank();
  ++rev;
  const auto commit = commit_operation();
  out.chain = chain_step{atproto::tid{rev},      root(),        commit.id, true,
                         (chain ? chain->passed : 0) + 1, commit.content};
  return out;
}

repo_update test_account::chunk(const std::vector<change>& changes) {
  auto out = blank();
  out.resync_id = row.resync_id;
  apply(changes, false, out);
  return out;
}

repo_update test_account::finish() {
  auto out = blank();
  out.resync_id = row.resync_id;
  apply({}, true, out);
  out.transactions.back().from = provenance::resync;
  out.transactions.back().live = false;
  out.transactions.back().job = row.resync_id;
  row.status = repo_status::synced;
  row.resync_id = 0;
  out.row = row;
  return out;
}

repo_update test_account::erase() {
  auto out = blank();
  out.erase = true;
  auto& tx = out.transactions.emplace_back();
  tx.time_us = static_cast<int64_t>(++rev) * 1000;
  row.account = row.words.host = account_status::deleted;
  tx.ops.push_back(fact(account_scope));
  row.status = repo_status::pending;
  row.resync_id = 0;
  ++row.incarnation;
  out.row = row;
  records.clear();
  return out;
}

new_operation test_account::fact(std::string_view scope) const {
  new_operation out;
  out.scope = scope;
  out.action = atproto::op_action::update;
  out.content = share(fact_json(row));
  out.id = atproto::cid::of_raw(out.content.view());
  return out;
}

repo_update test_account::forget() {
  auto out = blank();
  out.erase = true;
  out.forget = true;
  row = {};
  known = false;
  records.clear();
  return out;
}

void test_account::accept(const update_receipt& x) {
  chain = x.chain;
  row.erased_through = x.erased_through;
}

} // namespace weir::tests

#include "tests/unit/actors/repo_world.hpp"

#include "storage/tables/limits.hpp"
#include "tests/unit/actors/machine_frames.hpp"

#include <algorithm>

namespace weir::tests {

namespace {

template <class T, class U>
void move_into(std::vector<T>& to, U& from) {
  if (from)
    to.push_back(*from);
}

} // namespace

repo_world::repo_world(std::vector<std::string> filter)
  : settings(std::make_shared<repo_settings>()) {
  settings->filter
    = wire::collection_filter::parse(std::move(filter)).value();
  board.put(quiet_upstream(relay_id, "https://relay.test", 1, 1));
  board.put(quiet_upstream(pds_id, pds_origin, 1, 1));
  board.put(quiet_upstream(other_pds_id, other_origin, 1, 1));
  make_commit(); // Every repo has at least one commit.
  now.steady = {1'000'000'000};
  now.wall = account.now() + 1h;
  restart();
}

repo_world::repo_world(atproto::did who, storage::identity_row document,
                       wall_time at)
  : settings(std::make_shared<repo_settings>()), who_(std::move(who)),
    document_(std::move(document)) {
  now.steady = {1'000'000'000};
  now.wall = at;
  restart();
}

// -- the account --------------------------------------------------------------

bytes repo_world::make_commit(std::string_view path) {
  const auto text = std::to_string(++records_);
  account.put(path.empty() ? "app.test.note/" + text : std::string{path},
              make_record(text));
  return account.commit();
}

atproto::verified_root repo_world::root() const {
  const auto block = account.commit_block();
  return atproto::verify_root(block, atproto::cid::of_dag_cbor(block),
                              account.did(), account.key().public_part(),
                              now.wall)
    .value();
}

storage::identity_row repo_world::identity() const {
  if (document_)
    return *document_;
  storage::identity_row out;
  out.signing_key = account.key().public_part().to_multikey();
  out.pds = pds_origin;
  out.fetched_at = now.wall.seconds();
  return out;
}

// -- what arrives -------------------------------------------------------------

atproto::stamped_frame repo_world::stamp(const bytes& frame,
                                         uint32_t upstream) {
  atproto::stamped_frame out;
  out.at = {upstream, board.find(upstream).epoch, ++seqs_[upstream]};
  out.first_cursor = board.find(upstream).first_cursor;
  out.relay = upstream == relay_id;
  if (const auto peeked = atproto::peek_frame({frame.data(), frame.size()}))
    out.kind = peeked->kind;
  out.repo = who();
  out.bytes = shared_bytes::copy_of(frame);
  return out;
}

uint64_t repo_world::take(const bytes& frame, uint32_t upstream) {
  take_all({frame}, upstream);
  return seqs_[upstream];
}

void repo_world::take_all(const std::vector<bytes>& frames, uint32_t upstream) {
  std::vector<atproto::stamped_frame> all;
  for (const auto& frame : frames)
    all.push_back(stamp(frame, upstream));
  perform_frames(std::move(all));
}

void repo_world::perform_frames(std::vector<atproto::stamped_frame> frames) {
  perform(machine->on_frames(std::move(frames), now));
}

void repo_world::account_event(bool active, std::string_view status,
                               uint32_t upstream) {
  const auto frame = account_frame(1, active, status, who());
  take({frame.view().begin(), frame.view().end()}, upstream);
}

void repo_world::identity_event(uint32_t upstream) {
  const auto frame = identity_frame(1, who());
  take({frame.view().begin(), frame.view().end()}, upstream);
}

void repo_world::rotate_key(const test_repo& other) {
  auto fact = identity();
  fact.signing_key = other.key().public_part().to_multikey();
  learn(fact);
}

void repo_world::learn(const result<storage::identity_row>& fact, bool last,
                       std::optional<uint64_t> question, bool settled) {
  if (fact)
    known_ = *fact;
  const identity_answer x{who(), fact, question.value_or(asked), last,
                          settled};
  perform(machine->on_identity(x, now));
}

void repo_world::learn_unchecked(const storage::identity_row& fact) {
  identity_answer x{who(), fact, asked, true, true, {}};
  x.checked = false;
  perform(machine->on_identity(x, now));
}

void repo_world::list(atproto::tid rev, account_status status,
                      uint32_t upstream, const position& at) {
  const auto noted = board.find(upstream).since_reset();
  perform(machine->on_listed({who(), rev, status, noted, upstream, at}, now));
}

void repo_world::pass(std::chrono::microseconds x) {
  now.steady = now.steady + x;
  now.wall = now.wall + x;
  if (!timer || *timer > now.steady)
    return;
  timer.reset();
  perform(machine->on_timer(now));
}

void repo_world::restart() {
  in_flight.reset();
  timer.reset();
  asked = 0;
  machine.emplace(who(), settings, 1);
  perform(machine->on_loaded({row, chain, member}, now));
  awake();
}

bool repo_world::add(std::vector<std::string> kept, bool look_up,
                     atproto::tid least) {
  bool out = false;
  perform(
    machine->on_add({{who()}, std::move(kept), look_up, least}, out, now));
  return out;
}

bool repo_world::remove() {
  bool out = false;
  perform(machine->on_remove(out, now));
  return out;
}

bool repo_world::resync() {
  bool out = false;
  perform(machine->on_resync(out, now));
  return out;
}

void repo_world::begin(uint64_t job) {
  begin(job, {who(), known_.value_or(identity())});
}

void repo_world::begin(uint64_t job, const identity_answer& said) {
  perform(machine->on_begin(job, said, now));
}

error repo_world::no_host(const identity_answer& said) {
  std::optional<error> out;
  perform(machine->on_no_host(said, out, now));
  return out.value_or(error{});
}

void repo_world::chunk(uint64_t job, std::vector<storage::new_operation> ops) {
  perform(machine->on_chunk({job, account.rev(), std::move(ops)}, now));
}

void repo_world::fetched(uint64_t job, const atproto::verified_root& what) {
  perform(machine->on_fetched(job, what, now));
}

void repo_world::fail_fetch(uint64_t job, error why,
                            std::optional<account_status> status,
                            atproto::tid ahead) {
  perform(machine->on_fetch_failed({job, std::move(why), status, ahead}, now));
}

void repo_world::page(size_t frames, bool end) {
  ++pages;
  std::vector<storage::waiting_on_disk> out;
  for (auto i = buffer.upper_bound(page_after);
       i != buffer.end() && out.size() < frames; ++i) {
    page_after = i->first;
    out.push_back({i->first, i->second});
    out.back().frame.kind = atproto::frame_kind::unknown;
  }
  perform(machine->on_buffer_page({std::move(out), end}, now));
}

void repo_world::fail_page(error why) {
  ++pages;
  perform(machine->on_buffer_page({std::move(why), true}, now));
}

void repo_world::set(const repo_settings& x) {
  settings = std::make_shared<repo_settings>(x);
  restart();
}

// -- the writer ---------------------------------------------------------------

storage::repo_update repo_world::write(update_outcome outcome) {
  EXPECT_TRUE(in_flight) << "nothing to write";
  if (!in_flight)
    return {};
  auto x = std::exchange(in_flight, std::nullopt);
  storage::update_receipt receipt;
  receipt.outcome = outcome;
  receipt.chain = chain;
  if (outcome == update_outcome::done)
    receipt = store(*x->update);
  for (const auto& mark : x->marks)
    if (outcome == update_outcome::done)
      done.push_back(mark.seq);
  perform(machine->on_receipt(receipt, now));
  return std::move(*x->update);
}

void repo_world::settle() {
  for (int i = 0; in_flight && i < 1'000; ++i)
    write();
  EXPECT_FALSE(in_flight);
}

std::shared_ptr<const storage::chain_row>
repo_world::chain_after(const storage::repo_update& x) const {
  auto out = chain && !x.erase ? std::make_shared<storage::chain_row>(*chain)
                               : std::make_shared<storage::chain_row>();
  if (x.chain) {
    out->rev = x.chain->rev;
    out->data = x.chain->data;
    out->commit = x.chain->commit;
    out->passed = x.chain->passed;
    out->passed_block = x.chain->passed_block;
  }
  for (const auto& tx : x.transactions)
    for (const auto& op : tx.ops) {
      if (op.scope != storage::commit_scope)
        continue;
      if (out->streams.empty())
        out->streams.push_back({op.scope, 0, {}, 0});
      ++out->streams.front().next_index;
    }
  return out;
}

/// Checks the committer's guards and does its writes.
storage::update_receipt repo_world::store(const storage::repo_update& x) {
  EXPECT_EQ(x.repo, who());
  EXPECT_EQ(x.base, chain);
  EXPECT_EQ(x.commit_revision, chain ? chain->commit_revision() : 0);
  if (x.resync_id != 0) {
    EXPECT_TRUE(row && row->resync_id == x.resync_id);
  }
  if (x.row || x.forget) {
    EXPECT_EQ(x.old_status.has_value(), row.has_value());
    if (row && x.old_status) {
      EXPECT_EQ(*x.old_status, row->status);
    }
  }
  EXPECT_LE(x.transactions.size(), limits::repo_coalesced_commits_max + 1);
  storage::update_receipt out;
  if (x.erase)
    out.erased_through = 1'000 + log.size();
  log.insert(log.end(), x.transactions.begin(), x.transactions.end());
  chain = out.chain = chain_after(x);
  if (x.row)
    row = x.row;
  if (x.member)
    member = x.member;
  if (x.forget) {
    row.reset();
    member.reset();
  }
  if (x.buffer_clear || x.forget)
    buffer.clear();
  for (const auto& [number, frame] : x.buffer_put)
    EXPECT_TRUE(buffer.emplace(number, frame).second);
  return out;
}

// -- shortcuts ----------------------------------------------------------------

void repo_world::add_known() {
  EXPECT_TRUE(add());
  learn(identity());
  settle();
}

void repo_world::start_fetch(uint64_t job) {
  begin(job);
  settle();
}

void repo_world::run_fetch(uint64_t job) {
  start_fetch(job);
  fetched(job);
  settle();
}

void repo_world::sync() {
  if (!machine->tracked())
    add_known();
  run_fetch(1);
  EXPECT_EQ(row->status, repo_status::synced);
  clear();
}

void repo_world::clear() {
  done.clear();
  refused.clear();
  counted.clear();
  questions.clear();
  wishes.clear();
  orders.clear();
  job_ends.clear();
  cancelled.clear();
  stops.clear();
  loads = refreshes = chunks_done = reads = pages = 0;
}

size_t repo_world::count_of(repo_counter x) const {
  return static_cast<size_t>(std::count(counted.begin(), counted.end(), x));
}

std::vector<atproto::tid> repo_world::logged() const {
  std::vector<atproto::tid> out;
  for (const auto& tx : log)
    if (tx.rev.defined() && tx.ops.back().scope == storage::commit_scope)
      out.push_back(tx.rev);
  return out;
}

void repo_world::perform(repo_effects x) {
  for (const auto& mark : x.done)
    done.push_back(mark.seq);
  for (const auto& mark : x.refused)
    refused.push_back(mark.seq);
  take_news(x.news);
  counted.insert(counted.end(), x.counted.begin(), x.counted.end());
  move_into(questions, x.ask_host);
  move_into(wishes, x.wish);
  move_into(orders, x.order);
  if (x.job_end) {
    const auto& outcome = x.job_end->outcome;
    job_ends.push_back(outcome ? ec::none : outcome.error().code);
    if (!outcome)
      cancelled.push_back(x.job_end->job);
  }
  move_into(stops, x.stop);
  loads += x.load_identity ? 1 : 0;
  refreshes += x.refresh_identity ? 1 : 0;
  asked = std::max(asked, x.identity_asked);
  chunks_done += x.chunks_done;
  removed |= x.removed;
  if (x.read_buffer) {
    ++reads;
    page_after = *x.read_buffer;
  }
  if (x.timer && (!timer || *x.timer < *timer))
    timer = x.timer;
  if (!x.update)
    return;
  EXPECT_FALSE(in_flight) << "two updates at once";
  in_flight = std::move(x.update);
}

} // namespace weir::tests

#include "delivery_world.hpp"
#include "storage/log/limits.hpp"

#include <algorithm>

namespace weir::tests {

using actors::delivery_effects;
using actors::session_id;
using storage::log_entry;
using storage::logged_operation;
using storage::op_id;

std::string did_number(size_t n) {
  std::string name(24, 'a');
  for (auto i = name.rbegin(); n > 0; n /= 26, ++i)
    *i = static_cast<char>('a' + n % 26);
  return "did:plc:" + name;
}

delivery_world::delivery_world(actors::delivery_options settings)
  : options(std::move(settings)) {
  restart();
  ran_before = true;
}

// -- the log ------------------------------------------------------------------

op_id delivery_world::append(const std::string& who, size_t count, bool live,
                             const std::string& collection, size_t body_bytes) {
  log_entry entry;
  entry.first = next_;
  entry.repo = atproto::did::trusted(who);
  entry.rev = atproto::tid{next_};
  entry.live = live;
  entry.job = live ? 0 : fetch;
  for (size_t i = 0; i < count; ++i) {
    logged_operation op;
    op.scope = collection;
    op.index = i;
    op.rkey = std::to_string(next_ + i);
    op.body = shared_bytes{bytes(body_bytes, 0xa0)};
    entry.ops.push_back(std::move(op));
  }
  next_ += count;
  entry.written_us = now.micros;
  entry.events_before = events_;
  events_ += storage::is_event_scope(collection) ? count : 0;
  log_.push_back(std::make_shared<const log_entry>(std::move(entry)));
  return log_.back()->first;
}

op_id delivery_world::append_commit(const std::string& who) {
  return append(who, 1, true, std::string{storage::commit_scope});
}

op_id delivery_world::append_account(const std::string& who, bool active,
                                     const std::string& status) {
  set_active(who, active);
  log_entry entry;
  entry.first = next_++;
  entry.repo = atproto::did::trusted(who);
  entry.live = false; // Facts are barriers, whatever this flag is.
  logged_operation op;
  op.scope = storage::account_scope;
  op.action = atproto::op_action::update;
  op.body = shared_bytes::copy_of(
    as_bytes(std::string{R"({"handle":"a.test","is_active":)"}
             + (active ? R"(true,"status":"active"})"
                       : R"(false,"status":")" + status + "\"}")));
  entry.ops.push_back(std::move(op));
  entry.written_us = now.micros;
  entry.events_before = events_++;
  log_.push_back(std::make_shared<const log_entry>(std::move(entry)));
  return log_.back()->first;
}

op_id delivery_world::append_deletion(const std::string& who) {
  set_erased(who);
  return append_account(who, false, "deleted");
}

void delivery_world::sweep(const std::string& who) {
  for (auto& entry : log_) {
    if (entry->repo.str() != who
        || entry->ops.front().scope == storage::account_scope)
      continue;
    auto left = *entry;
    left.erased = true;
    for (auto& op : left.ops) {
      if (!op.scope.starts_with('$'))
        op.scope.clear();
      op.body = {};
    }
    entry = std::make_shared<const log_entry>(std::move(left));
  }
}

storage::log_entry_ptr delivery_world::entry_of(op_id id) const {
  auto i = std::upper_bound(log_.begin(), log_.end(), id,
                            [](op_id x, const storage::log_entry_ptr& y) {
                              return x < y->first;
                            });
  return *--i;
}

bool delivery_world::is_fact(const logged_operation& op) {
  return op.scope == storage::account_scope
         || op.scope == storage::identity_scope;
}

std::vector<storage::log_entry_ptr>
delivery_world::read_log(op_id after) const {
  std::vector<storage::log_entry_ptr> out;
  size_t ops = 0;
  size_t size = 0;
  for (const auto& x : log_) {
    if (x->last() <= after)
      continue;
    ops += x->ops.size();
    size += x->bytes_held();
    if (!out.empty()
        && (ops > limits::log_page_ops_max
            || size > limits::log_page_bytes_max))
      break;
    out.push_back(x);
  }
  return out;
}

did_page delivery_world::read_did(const effects::did_wish& wish) const {
  did_page out{wish.repo, wish.facts, wish.after, wish.through};
  size_t ops = 0;
  for (const auto& x : log_) {
    if (x->repo != wish.repo || x->last() <= wish.after
        || x->last() > wish.through || x->erased)
      continue;
    if (!out.entries->empty() && ops + x->ops.size() > wish.ops_max) {
      out.end = false;
      break;
    }
    ops += x->ops.size();
    out.entries->push_back(x);
  }
  return out;
}

// -- the shell ----------------------------------------------------------------

void delivery_world::restart() {
  actors::delivery_state state;
  state.position = position;
  for (const auto& [first, end] : ranges)
    state.acked.push_back({first, end});
  state.durable = last();
  state.ran_before = ran_before;
  for (const auto& [id, letter] : letters)
    retried.erase(id); // The request for it was not stored.
  state.log_events = events_;
  state.settled = settled;
  state.dead_letters = letters.size();
  machine
    = std::make_unique<actors::delivery_machine>(options, state, accounts);
  sent.clear();
  inbox.clear();
  timer.reset();
  rows.reset();
  pages.clear();
  did_pages.clear();
}

void delivery_world::carry(effects todo) {
  begin(std::move(todo));
  while (answer_one(0)) {
  }
}

void delivery_world::begin(effects x) {
  for (;;) {
    timer = x.timer;
    if (x.rows) {
      EXPECT_FALSE(rows) << "two writes at once";
      rows = std::move(x.rows);
    }
    take_sends(x);
    if (x.page_after)
      pages.push_back(*x.page_after);
    for (auto& wish : x.did_pages)
      did_pages.push_back(std::move(wish));
    if (x.sends.empty())
      return;
    std::map<session_id, size_t> counts;
    for (const auto& send : x.sends)
      ++counts[send.to];
    std::vector<actors::sent_report> reports;
    for (const auto& [id, count] : counts)
      reports.push_back({id, std::min(count, room_of(id))});
    x = machine->on_sent(reports, now);
  }
}

bool delivery_world::answer_one(size_t choice) {
  const auto rows_ready = rows && !disk_is_slow ? 1u : 0u;
  const auto count = rows_ready + pages.size() + did_pages.size();
  if (count == 0)
    return false;
  choice %= count;
  if (choice < rows_ready) {
    write_rows();
    begin(machine->on_durable_rows(now));
  } else if (choice < rows_ready + pages.size()) {
    ++pages_read;
    const auto after = pages.front();
    pages.pop_front();
    begin(machine->on_page(read_log(after), now));
  } else {
    ++did_pages_read;
    const auto i = did_pages.begin()
                   + static_cast<ptrdiff_t>(choice - rows_ready - pages.size());
    const auto wish = *i;
    did_pages.erase(i);
    begin(machine->on_did_page(read_did(wish), now));
  }
  return true;
}

actors::oldest_event delivery_world::find_oldest() {
  for (;;) {
    const auto x = machine->oldest_due();
    if (!x.unread)
      return x;
    const auto found = machine->look_ahead(x.id, last(), read_log(x.id - 1));
    if (found.id != 0)
      return found;
  }
}

void delivery_world::write_rows() {
  for (const auto id : rows->letters_gone)
    EXPECT_EQ(letters.erase(id), 1u) << id << " is no dead letter";
  position = rows->position;
  for (const auto first : rows->erase)
    EXPECT_EQ(ranges.erase(first), 1u) << first;
  for (const auto& x : rows->put)
    ranges[x.first] = x.last;
  for (auto& x : rows->letters) {
    EXPECT_TRUE(letters.emplace(x.id, x).second) << x.id;
    retried.erase(x.id);
  }
  settled = rows->settled;
  EXPECT_EQ(rows->dead_letters, letters.size());
  rows.reset();
}

void delivery_world::take_sends(const effects& todo) {
  std::map<session_id, size_t> room;
  for (const auto& x : todo.sends) {
    check_send(x);
    if (on_send)
      on_send(x);
    if (room[x.to]++ >= room_of(x.to))
      continue;
    sent.push_back(x);
    inbox[x.to].push_back(x.id);
    if (options.fire_and_forget)
      acked.insert(x.id);
    else
      unacked.insert_or_assign(x.id, x);
  }
}

/// Checks what must hold for every event that is sent.
void delivery_world::check_send(const effects::send& x) const {
  ASSERT_LE(x.id, last());
  ASSERT_EQ(x.entry->first + x.index, x.id);
  EXPECT_FALSE(acked.contains(x.id)) << x.id << " was acked";
  EXPECT_TRUE(!letters.contains(x.id) || retried.contains(x.id))
    << x.id << " is a dead letter";
  EXPECT_TRUE(options.filter.matches(x.op().scope) || is_fact(x.op()));
  const auto account = standing(x.entry->repo);
  EXPECT_GT(x.id, account.erased_through) << x.id << " was erased";
  EXPECT_TRUE(account.active || is_fact(x.op()))
    << x.id << " is of an account that is not active";
}

void delivery_world::connect(session_id id) {
  carry(machine->on_session_up(id, now));
}

void delivery_world::disconnect(session_id id) {
  inbox.erase(id);
  carry(machine->on_session_down(id, now));
}

void delivery_world::ack(op_id id, session_id from) {
  acked.insert(id);
  unacked.erase(id);
  carry(machine->on_acks(from, std::vector<op_id>{id}, now));
}

void delivery_world::ack_all(const std::unordered_set<std::string>& except) {
  for (auto i = unacked.begin(); i != unacked.end();) {
    if (except.contains(i->second.entry->repo.str())) {
      ++i;
      continue;
    }
    ack(i->first, i->second.to);
    i = unacked.begin();
  }
}

letters_report
delivery_world::decide(const std::vector<op_id>& ids,
                       actors::letter_wish::fate what) {
  std::vector<actors::letter_wish> wishes;
  for (const auto id : ids)
    wishes.push_back({id, entry_of(id), what});
  letters_report out;
  auto todo = machine->on_letters(wishes, now, out);
  const auto again = what == actors::letter_wish::fate::deliver;
  for (const auto id : out.done)
    (again ? retried : dropped).insert(id);
  for (const auto id : out.outdated)
    dropped.insert(id);
  begin(std::move(todo));
  return out;
}

void delivery_world::pass(std::chrono::microseconds x) {
  const auto end = now + x;
  size_t rounds = 0;
  while (timer && *timer <= end) {
    ASSERT_LT(++rounds, 1'000'000u) << "timers without end";
    now = std::max(now, *timer);
    timer.reset();
    carry(machine->on_timer(now));
  }
  now = end;
}

std::vector<op_id> delivery_world::sent_ids() const {
  std::vector<op_id> out;
  for (const auto& x : sent)
    out.push_back(x.id);
  return out;
}

bool delivery_world::buried(op_id id) const {
  const auto is_it = [&](const auto& x) {
    return x.id == id;
  };
  return std::ranges::any_of(machine->letters(), is_it)
         || (rows && std::ranges::any_of(rows->letters, is_it));
}

size_t delivery_world::times_sent(op_id id) const {
  return static_cast<size_t>(
    std::count_if(sent.begin(), sent.end(), [&](const auto& x) {
      return x.id == id;
    }));
}

bool delivery_world::stored_as_acked(op_id id) const {
  const auto i = ranges.upper_bound(id);
  return id <= position || (i != ranges.begin() && std::prev(i)->second >= id);
}

} // namespace weir::tests

#include "tests/unit/storage/journal_history.hpp"

#include "storage/log/log_reader.hpp"

namespace weir::tests {

using namespace storage;

namespace {

constexpr uint32_t upstream = 1;

void see(const log_entry& entry, std::map<op_id, std::string>& seen) {
  op_id id = entry.first;
  for (const auto& op : entry.ops)
    seen[id++] = entry.repo.str() + " " + std::to_string(entry.rev.value())
                 + " " + op.scope + " " + op.rkey + " " + op.id.to_text();
}

} // namespace

history::history(uint64_t seed, size_t body_bytes_max)
  : body_bytes_max_(body_bytes_max), dice_(seeded_random(seed)) {
  // nop
}

journal_batch history::next_group() {
  journal_batch group;
  for (auto& who : accounts_)
    if (dice_->below(2) == 0 && who.row.account != account_status::deleted)
      group.updates.push_back(next_update(who));
  group.upstreams.push_back(
    {upstream, "wss://relay.test", true, 1, ++groups, 0, false});
  return group;
}

journal_batch history::deletion() {
  auto group = next_group();
  auto& last = accounts_.back();
  const auto same = [&](const repo_update& x) {
    return x.repo == last.repo;
  };
  if (std::none_of(group.updates.begin(), group.updates.end(), same)
      && last.known)
    group.updates.push_back(last.erase());
  return group;
}

repo_update history::next_update(test_account& who) {
  if (!who.known)
    return who.appear();
  if (dice_->below(6) == 0 && who.chain && who.chain->rev.defined())
    return who.pass();
  std::vector<change> changes;
  for (size_t i = dice_->below(4) + 1; i > 0; --i) {
    const auto path = "app.c" + std::to_string(dice_->below(3)) + ".x/"
                      + std::to_string(i) + std::to_string(dice_->below(9));
    const bool drop = who.records.contains(path) && dice_->below(3) == 0;
    changes.push_back(
      {path, drop ? "" : std::string(1 + dice_->below(body_bytes_max_), 'b')});
  }
  return who.commit(changes);
}

void history::accept(const journal_batch& group, const commit_result& out) {
  for (size_t i = 0; i < group.updates.size(); ++i)
    for (auto& who : accounts_)
      if (who.repo == group.updates[i].repo)
        who.accept(out.receipts[i]);
  for (const auto& entry : out.entries)
    see(*entry, durable);
  groups_done = groups;
  accepted_ = accounts_;
}

void history::rewind() {
  accounts_ = accepted_;
  groups = groups_done;
}

result<void> history::commit_to(test_store& store, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const auto group = next_group();
    const auto out = store.writer->commit(group);
    if (!out)
      return out.error();
    accept(group, *out);
    store.time.advance(std::chrono::seconds{7});
  }
  return {};
}

uint64_t history::last_group(const test_store& store) {
  const auto value = store.db->get(encode_key(upstream_key{upstream}));
  if (!value || !*value)
    return 0;
  const auto row = decode_value<upstream_row>(**value);
  return row ? row->cursor : 0;
}

std::string history::complaint_about(const test_store& store) const {
  auto out = store.findings();
  const log_reader reader{*store.db, *store.names, 0};
  std::map<op_id, std::string> found;
  for (op_id after = 0; after < store.writer->last_id();) {
    const auto entries = reader.read(after, store.writer->last_id());
    if (!entries || entries->empty())
      return out + "the log cannot be read after " + std::to_string(after);
    for (const auto& entry : *entries)
      see(*entry, found);
    after = entries->back()->last();
  }
  for (const auto& [id, what] : durable)
    if (found[id] != what)
      return out + "operation " + std::to_string(id) + " changed: " + what
             + " is now " + found[id];
  // The failed group may be there completely or not at all.
  const auto last = last_group(store);
  if (last < groups_done || last > groups_done + 1)
    out += "the cursor is at " + std::to_string(last) + " after "
           + std::to_string(groups_done) + " groups";
  if (last == groups_done && found.size() != durable.size())
    out += "half a group is there";
  return out;
}

} // namespace weir::tests

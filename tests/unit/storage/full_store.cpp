#include "tests/unit/storage/full_store.hpp"

#include "atproto/frame.hpp"
#include "storage/log/limits.hpp"

namespace weir::tests {

using namespace storage;

namespace {

/// Large enough for a separate content reference.
std::string large(char x) {
  return std::string(limits::inline_refs_min + 1, x);
}

bytes text(const std::string& x) {
  const auto view = as_bytes(x);
  return {view.begin(), view.end()};
}

} // namespace

full_store::full_store() {
  make_upstreams();
  make_synced();
  make_out_of_sync();
  time.advance(std::chrono::minutes{3});
  make_erased();
  make_consumers();
  make_wide();
  // The last block of the log belongs to a repo that is not erased.
  apply(synced, synced.commit({{"app.b.y/last", "last"}}));
}

std::vector<std::string> full_store::keys() const {
  std::vector<std::string> out;
  for (auto rows = db->scan({}); rows.valid(); rows.next())
    out.emplace_back(rows.key());
  return out;
}

std::optional<std::string> full_store::find_raw(const std::string& key) const {
  return db->get(key).value();
}

void full_store::restore(const std::string& key,
                         const std::optional<std::string>& value) {
  if (value)
    put_raw(key, *value);
  else
    erase_raw(key);
}

std::string full_store::findings_with(const std::string& key,
                                      const std::optional<std::string>& value) {
  const auto before = find_raw(key);
  restore(key, value);
  auto out = findings();
  restore(key, before);
  return out;
}

void full_store::apply(test_account& who, repo_update update) {
  remember();
  who.accept(commit(std::move(update)));
}

void full_store::remember() {
  for (auto rows = db->scan({}); rows.valid(); rows.next())
    past_[std::string{rows.key()}].emplace(rows.value());
}

void full_store::make_upstreams() {
  journal_batch group;
  for (const uint32_t id : {1, 2}) {
    upstream_row row;
    row.id = id;
    row.url = "https://host" + std::to_string(id) + ".test";
    row.relay = id == 1;
    row.cursor = 500;
    row.first_cursor = 7;
    group.upstreams.push_back(row);
  }
  group.listings.push_back({1, {}, {"cursor", false, {1, 1, 1}}});
  group.listings.push_back({2, "app.a.x", {"", true, {}}});
  group.exported.emplace_back(
    atproto::did::trusted("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"),
    identity_row{"zKey", "https://host2.test", {}, "a.test", 0, false});
  group.export_place
    = export_row{"https://plc.test", 17, "bafyop", 1'700'000'000};
  group.configuration.push_back({default_dataset, "mode", text("all")});
  commit(std::move(group));
}

/// Sets a host and a verified handle, which the log contains, too.
void full_store::identify(test_account& who) {
  who.row.pds = "https://host2.test";
  who.row.handle = std::string{who.repo.str().back()} + ".test";
  who.row.words.host_at = {1, 1, 20};
  journal_batch group;
  group.identities.emplace_back(
    who.repo, identity_row{"zKey", who.row.pds, who.row.handle, who.row.handle,
                           1'700'000'000, false});
  commit(std::move(group));
  auto update = who.appear(who.row.status);
  auto& tx = update.transactions.emplace_back();
  tx.time_us = time.wall_now().micros;
  tx.ops.push_back(who.fact(identity_scope));
  apply(who, std::move(update));
}

void full_store::make_synced() {
  apply(synced, synced.appear(repo_status::pending));
  identify(synced);
  apply(synced, synced.appear(repo_status::syncing));
  apply(synced, synced.chunk({{"app.a.x/1", "one"},
                              {"app.a.x/2", "two"},
                              {"app.a.x/3jzfcijpj2z2a", large('x')},
                              {"app.b.y/self", "self"},
                              {"app.b.y/odd", "odd", true}}));
  synced.row.last_indexed_rev = atproto::tid{synced.rev + 1};
  synced.row.first_rev = synced.row.last_indexed_rev;
  synced.row.fcsr = {2, 1, 7};
  apply(synced, synced.finish());
  apply(synced, synced.commits({{{"app.a.x/1", "other"}, {"app.a.x/2", ""}},
                                {{"app.b.y/self", large('y')}}}));
}

void full_store::make_out_of_sync() {
  apply(pending, pending.appear(repo_status::pending));
  apply(failed, failed.appear(repo_status::pending));
  identify(failed);
  failed.row.next_retry = 1'700'000'100;
  failed.row.retry_count = 3;
  failed.row.error = "no answer";
  apply(failed, failed.appear(repo_status::error));
  apply(syncing, syncing.appear(repo_status::pending));
  identify(syncing);
  apply(syncing, syncing.appear(repo_status::syncing));
  apply(syncing, syncing.chunk({{"app.a.x/1", "one"}, {"app.c.z/1", "one"}}));
  atproto::sync_event waiting;
  waiting.seq = 30;
  waiting.repo = syncing.repo;
  waiting.time = "2024-01-01T00:00:00.000Z";
  waiting.rev = atproto::tid{9'000};
  auto update = syncing.chunk({{"app.a.x/2", "two"}});
  atproto::stamped_frame frame;
  frame.bytes = shared_bytes{atproto::encode_frame(waiting)};
  update.buffer_put = {{1, std::move(frame)}};
  apply(syncing, std::move(update));
}

void full_store::make_erased() {
  erasing_from = writer->last_id() + 1;
  for (auto* who : {&erasing, &forgotten, &erased}) {
    apply(*who, who->appear(repo_status::pending));
    identify(*who);
    apply(*who, who->appear(repo_status::syncing));
    std::vector<change> all;
    for (size_t i = 0; i < 6; ++i)
      all.push_back({numbered("app.a.x/", i), "record" + std::to_string(i)});
    all.push_back({"app.b.y/big", large('z')});
    apply(*who, who->chunk(all));
    apply(*who, who->finish());
    apply(*who, who == &forgotten ? who->forget() : who->erase());
    remember();
    // Some heads are gone, all others and all content still exist.
    for (bool more = true; more;)
      more = writer->erase_step(who->repo, 3).value() && who != &erasing;
    if (who == &erasing)
      continue;
    EXPECT_TRUE(writer->end_erasure(who->repo, who->chain->erased_through));
  }
}

/// More collections than fit into the row of a chain.
void full_store::make_wide() {
  apply(wide, wide.appear(repo_status::syncing));
  std::vector<change> all;
  for (size_t i = 0; i < limits::chain_streams_inline_max + 2; ++i)
    all.push_back({numbered("app.w", i) + "/1", "record"});
  apply(wide, wide.chunk(all));
  apply(wide, wide.finish());
  apply(wide, wide.commit({{all.back().path, "other"}}));
  apply(wide, wide.pass());
}

void full_store::make_consumers() {
  journal_batch group;
  consumer_change tap;
  tap.name = "tap";
  tap.row = consumer_row{{3}, db->log_identity(), false, 4, 2};
  tap.acked = {{6, 9}, {12, 12}};
  tap.dead_letters = {{2, {20, "no answer", 99}}, {8, {20, "no answer", 99}}};
  group.consumers.push_back(tap);
  commit(std::move(group));
  // Of the versions that were replaced so far some are still needed.
  remember();
  const auto until = writer->last_id() + 1;
  while (writer->erase_replaced(until, true).value().more) {
  }
}

} // namespace weir::tests

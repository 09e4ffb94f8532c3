#include "tests/system/verify_store.hpp"

#include "actors/support/placement.hpp"
#include "apps/demo/evidence.hpp"
#include "storage/disk/partition_stores.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/store_left.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>

namespace weir::tests {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// Leaves out a third of all records, so that the acks have holes.
std::vector<uint64_t> ack_some(const std::vector<std::string_view>& texts,
                               std::atomic<size_t>& came) {
  std::vector<uint64_t> out;
  for (const auto text : texts) {
    const auto event = json::parse(text).as_object();
    const auto id = event.at("id").to_number<uint64_t>();
    if (event.at("type").as_string() == "identity" || id % 3 != 0)
      out.push_back(id);
  }
  came += texts.size();
  return out;
}

} // namespace

uint64_t verdict::count(std::string_view what) const {
  const auto* found = counts.if_contains(what);
  return found == nullptr ? 0 : found->to_number<uint64_t>();
}

verdict verify(const std::string& data_dir, std::vector<std::string> more) {
  std::vector<std::string> arguments{"verify", data_dir, "--json"};
  std::move(more.begin(), more.end(), std::back_inserter(arguments));
  const auto x = run_program(std::move(arguments));
  verdict out{x.status, x.errors, {}, {}, {}, {}};
  std::error_code bad;
  const auto value = json::parse(x.output, bad);
  if (bad || !value.is_object())
    return out; // Standard error says why nothing could be compared.
  const auto& report = value.as_object();
  const auto read = [&report](const char* list, std::string& to) {
    for (const auto& each : report.at(list).as_array()) {
      const auto& finding = each.as_object();
      for (const auto* part : {"invariant", "where", "sentence"})
        to.append(finding.at(part).as_string()).push_back(' ');
      to.back() = '\n';
    }
  };
  read("findings", out.findings);
  read("newer", out.newer);
  read("unfinished", out.unfinished);
  out.counts = report.at("counts").as_object();
  return out;
}

void verify_store::SetUp() {
  constexpr size_t events = 300;
  const auto web = apps::web_client::make();
  std::atomic<size_t> came = 0;
  program node{net.arguments(data, more_)};
  const auto at = parse_ready(node.read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node.errors());
  const auto accounts = net.life().truth().accounts();
  ASSERT_TRUE(eventually(node_patience, [&] {
    return status_of(*web, at).synced == accounts;
  }));
  net.life().traffic().make(events);
  channel_client some{web->transport(), at.data, [&](const auto& texts) {
                        return ack_some(texts, came);
                      }};
  const auto newest
    = static_cast<uint64_t>(net.life().truth().relay_log()->newest());
  ASSERT_TRUE(eventually(node_patience, [&] {
    const auto page = web->get(at.operations + "/metrics").value();
    return came > events
           && apps::metric_total(as_text(page.body), "weir_upstream_cursor")
                >= newest;
  }));
  node.send(SIGTERM);
  ASSERT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
  EXPECT_TRUE(std::ranges::any_of(store_left::read(data).acked,
                                  [](const auto& x) { return x.ranges() > 0; }));
}

damaged_copy::damaged_copy(const std::string& data_dir)
  : where_(dir_.at("data")) {
  std::filesystem::copy(data_dir, where_,
                        std::filesystem::copy_options::recursive);
  storage::database_options options;
  options.directory = where_;
  all_ = storage::open_partition_stores(options, 0).value();
  select(0);
}

void damaged_copy::of(const atproto::did& repo) {
  const actors::placement places{static_cast<uint16_t>(all_.size()), 1};
  select(places.partition_of(repo));
}

void damaged_copy::select(size_t partition) {
  db_ = all_[partition].get();
  names_ = storage::collection_table::load(*db_).value();
}

std::string damaged_copy::get(const std::string& key) const {
  return db_->get(key).value().value();
}

void damaged_copy::put(const std::string& key, const std::string& value) {
  storage::write_batch batch;
  batch.put(key, value);
  write(batch);
}

void damaged_copy::write(const storage::write_batch& rows) {
  db_->write(rows, storage::sync_mode::durable).value();
}

void damaged_copy::erase(const std::string& key) {
  storage::write_batch batch;
  batch.erase(key);
  db_->write(batch, storage::sync_mode::durable).value();
}

std::string damaged_copy::close() {
  names_ = nullptr;
  all_.clear();
  return where_;
}

} // namespace weir::tests

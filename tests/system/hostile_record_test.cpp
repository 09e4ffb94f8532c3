#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <algorithm>
#include <map>

// Records at their limits and just above them.

namespace weir::tests {

namespace {

bytes record_of_bytes(size_t size) {
  const auto around = make_record(std::string(size, 'x')).size() - size;
  return make_record(std::string(size - around, 'x'));
}

/// The map around the value counts.
bytes record_of_depth(size_t depth) {
  atproto::cbor::writer out;
  out.begin_map(1).put_text("a");
  for (size_t i = 2; i < depth; ++i)
    out.begin_array(1);
  return out.begin_array(0).take();
}

bytes record_of_elements(size_t count) {
  atproto::cbor::writer out;
  out.begin_map(1).put_text("a").begin_array(count);
  for (size_t i = 0; i < count; ++i)
    out.put_int(0);
  return out.take();
}

bytes record_of_key(size_t size) {
  atproto::cbor::writer out;
  return out.begin_map(1).put_text(std::string(size, 'k')).put_null().take();
}

/// Two repos, of which one is fetched and one sends commits, and a consumer of
/// both.
class HostileRecordTest : public NetFixture {
protected:
  static constexpr std::string_view id_at = R"({"id":)";

  HostileRecordTest() {
    hub.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  /// Starts a node that has both in sync.
  void start() {
    for (const auto* x : {&fetched, &live})
      hub.publish_and_serve(*x);
    node = std::make_unique<hostile_node>(std::vector{"relay:" + hub.url()},
                                          hub.url());
    before = node->resident_bytes();
    channel = std::make_unique<channel_client>(
      network, node->data_url(),
      [this](const std::vector<std::string_view>& texts) {
        // The start of an event has its account and no content.
        constexpr size_t head_bytes = 512;
        std::vector<uint64_t> ids;
        for (const auto x : texts) {
          events.push(std::string{x.substr(0, head_bytes)});
          ids.push_back(std::strtoull(x.data() + id_at.size(), nullptr, 10));
        }
        return ids;
      });
    node->add({fetched.did(), live.did()});
    for (const auto* x : {&fetched, &live})
      node->await(x->did(), "synced");
  }

  /// Expects that the consumer gets all of these records, by CID, and the
  /// content of those marked true.
  void expect_events(std::map<std::string, bool> by_cid) {
    while (!by_cid.empty()) {
      const auto event = events.pop(node_patience);
      ASSERT_TRUE(event) << by_cid.size() << " events never came";
      const auto found
        = std::find_if(by_cid.begin(), by_cid.end(), [&](const auto& x) {
            return event->find(R"("cid":")" + x.first) != std::string::npos;
          });
      if (found == by_cid.end())
        continue;
      const auto shown = event->find(R"(,"record":{)", event->find(R"("cid":)"))
                         != std::string::npos;
      EXPECT_EQ(shown, found->second) << *event;
      by_cid.erase(found);
    }
  }

  hostile_stream stream;
  hostile_host hub;
  live_repo fetched{1};
  live_repo live{2};
  std::unique_ptr<hostile_node> node;
  size_t before = 0;
  inbox<std::string> events;
  std::unique_ptr<channel_client> channel;
};

} // namespace

// hostile-inputs.md 2.1.2, 2.1.3, 2.1.4: limits::record_bytes_max,
// cbor_depth_max, cbor_container_max, cbor_map_key_bytes_max. A record above
// one of them is delivered with its CID and without its content. It does not
// harm its repo (protocol-coverage.md 2.4.4), whether it comes by a fetch or in
// a commit.
TEST_F(HostileRecordTest, RecordsAreTakenUpToTheirLimitsAndNotAbove) {
  using maker = bytes (*)(size_t);
  const std::pair<maker, size_t> bounds[]{
    {record_of_bytes, limits::record_bytes_max},
    {record_of_depth, limits::cbor_depth_max},
    {record_of_elements, limits::cbor_container_max},
    {record_of_key, limits::cbor_map_key_bytes_max}};
  ASSERT_EQ(record_of_bytes(limits::record_bytes_max).size(),
            limits::record_bytes_max);
  std::vector<bytes> records;
  std::map<std::string, bool> shown;
  for (const auto& [make, most] : bounds)
    for (const auto size : {most, most + 1}) {
      records.push_back(make(size));
      shown[atproto::cid::of_dag_cbor(records.back()).to_text()] = size == most;
    }
  const auto path = [](size_t i) {
    return "app.test.note/" + std::to_string(i);
  };
  for (size_t i = 0; i < records.size(); ++i)
    fetched.put(path(i), records[i]);
  fetched.commit();
  live.put("app.test.note/first", make_record("one"));
  live.commit();
  start();
  EXPECT_EQ(node->repo(fetched.did()).records, records.size());
  expect_events(shown);
  for (size_t i = 0; i < records.size(); ++i) {
    live.put(path(i), records[i]);
    ASSERT_TRUE(stream.send(live.commit()));
  }
  expect_events(shown);
  const auto told = node->repo(live.did());
  EXPECT_EQ(told.status, "synced");
  EXPECT_EQ(told.rev, live.rev().str());
  EXPECT_EQ(told.records, records.size() + 1);
  EXPECT_EQ(stream.ends.size(), 0u);
  EXPECT_LT(node->peak_bytes(), before + 32 * megabyte + memory_slack);
}

} // namespace weir::tests

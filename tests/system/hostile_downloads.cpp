#include "tests/system/hostile_downloads.hpp"

#include <algorithm>
#include <array>

namespace weir::tests {

std::string car_answer(bytes_view car) {
  return http_answer(200, as_text(car));
}

bytes whole_car(const std::vector<named_block>& blocks) {
  return make_car(blocks.front().first, blocks);
}

bytes signed_car(const test_repo& repo, const atproto::commit_object& object,
                 const std::vector<named_block>& blocks) {
  const auto commit = encode_signed_commit(object, repo.key());
  std::vector<named_block> all{{atproto::cid::of_dag_cbor(commit), commit}};
  all.insert(all.end(), blocks.begin(), blocks.end());
  return whole_car(all);
}

void raise_s(bytes& block) {
  const auto low = atproto::decode_commit(block).value().sig;
  const std::array<uint8_t, 32> order{
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xfe, 0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48,
    0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41};
  const auto at
    = std::search(block.begin(), block.end(), low.begin(), low.end());
  ASSERT_NE(at, block.end());
  int borrow = 0;
  for (size_t i = 32; i-- > 0;) {
    const int difference = order[i] - low[32 + i] - borrow;
    borrow = difference < 0;
    at[static_cast<std::ptrdiff_t>(32 + i)]
      = static_cast<uint8_t>(difference + 256 * borrow);
  }
}

hostile_downloads::hostile_downloads() {
  hub_.on("/xrpc/com.atproto.sync.subscribeRepos", stream_.script());
  hub_.publish_and_serve(honest_);
}

live_repo hostile_downloads::make_repo() {
  live_repo out{++seed_};
  out.put("app.test.note/a", make_record("one"));
  out.put("app.test.note/b", make_record("two"));
  out.commit();
  return out;
}

void hostile_downloads::add_at(const std::string& what, const test_repo& repo,
                               const std::string& pds,
                               const std::string& error) {
  trials_.push_back({what, repo.did(), error});
  hub_.publish(repo, pds);
}

void hostile_downloads::add(const std::string& what, const test_repo& repo,
                            hostile_host::script answer,
                            const std::string& error) {
  auto& host = hosts_.emplace_back();
  host.on_repo(repo.did(), std::move(answer));
  add_at(what, repo, host.url(), error);
}

void hostile_downloads::add_body(const std::string& what, const test_repo& repo,
                                 bytes_view body, const std::string& error) {
  hub_.on_repo(repo.did(), say(car_answer(body)));
  add_at(what, repo, hub_.url(), error);
}

void hostile_downloads::run(size_t bytes_max,
                            std::vector<std::string> more_arguments) {
  hostile_node node{
    {"relay:" + hub_.url()}, hub_.url(), std::move(more_arguments)};
  const auto before = node.resident_bytes();
  std::vector<atproto::did> all;
  for (const auto& x : trials_)
    all.push_back(x.did);
  all.push_back(honest_.did());
  node.add(all);
  EXPECT_EQ(node.await(honest_.did(), "synced").records, 2u);
  for (const auto& x : trials_) {
    const auto told = x.error.empty() ? node.await(x.did, "synced")
                                      : node.await_failure(x.did);
    EXPECT_NE(told.error.find(x.error), std::string::npos)
      << x.what << ": " << told.status << ' ' << told.error;
    EXPECT_EQ(told.status == "synced", x.error.empty()) << x.what;
    EXPECT_TRUE(x.error.empty() || told.records == 0) << x.what;
  }
  EXPECT_LT(node.peak_bytes(), before + bytes_max + memory_slack);
}

} // namespace weir::tests

#include "tests/system/followed_host.hpp"

#include <cstdlib>
#include <thread>

namespace weir::tests {

using std::chrono::steady_clock;

followed_host::followed_host(net::transport_ptr network)
  : network_(std::move(network)) {
  host_.on("/xrpc/com.atproto.sync.subscribeRepos", stream_.script());
  for (size_t i = 0; i < repos; ++i) {
    auto& x = repos_.emplace_back(i + 1);
    x.put("app.test.note/a", make_record("one"));
    x.commit();
    host_.publish_and_serve(x);
  }
}

void followed_host::start(std::vector<std::string> others,
                          std::vector<std::string> options) {
  others.push_back("pds:" + host_.url());
  options.insert(options.end(),
                 {"--memory-limit", "2GiB", "--retry-backoff-min", "60s",
                  "--repo-bytes-max", "1MiB"});
  node_ = std::make_unique<hostile_node>(others, host_.url(), options);
  channel_ = std::make_unique<channel_client>(
    network_, node_->data_url(),
    [this](const std::vector<std::string_view>& texts) {
      return take(texts);
    });
}

std::vector<uint64_t>
followed_host::take(const std::vector<std::string_view>& texts) {
  std::vector<uint64_t> ids;
  for (const auto text : texts) {
    const auto id = text.find(R"("id":)") + 5;
    ids.push_back(std::strtoull(text.data() + id, nullptr, 10));
    if (text.find(R"("live":true)") != std::string_view::npos)
      live_.push(std::string{text});
  }
  return ids;
}

std::vector<atproto::did> followed_host::accounts() const {
  std::vector<atproto::did> out;
  for (const auto& x : repos_)
    out.push_back(x.did());
  return out;
}

void followed_host::expect_synced() {
  for (const auto& x : repos_) {
    const auto told = node_->await(x.did(), "synced");
    EXPECT_EQ(told.rev, x.rev().str());
    EXPECT_EQ(told.records, x.records().size());
  }
}

std::optional<steady_clock::time_point> followed_host::send_one() {
  ++seq_;
  auto& repo = repos_.front();
  repos_.splice(repos_.end(), repos_, repos_.begin());
  repo.put("app.test.note/live", make_record(std::to_string(seq_)));
  auto draft = repo.draft();
  draft.seq = seq_;
  const auto frame = draft.encode(draft.sign(repo.key()));
  const auto sent = steady_clock::now();
  EXPECT_TRUE(stream_.send(frame));
  std::optional<std::string> event;
  do
    event = live_.pop(node_patience);
  while (event && event->find(repo.rev().str()) == std::string::npos);
  if (!event)
    return std::nullopt;
  return sent;
}

std::vector<double> followed_host::commit(size_t commits,
                                          std::chrono::milliseconds pace) {
  std::vector<double> out;
  while (out.size() < commits) {
    const auto sent = send_one();
    if (!sent) {
      ADD_FAILURE() << "commit " << seq_ << " never came";
      break;
    }
    const auto took = steady_clock::now() - *sent;
    out.push_back(std::chrono::duration<double, std::milli>(took).count());
    std::this_thread::sleep_until(*sent + pace);
  }
  return out;
}

} // namespace weir::tests

#include "tests/system/followed_host.hpp"

#include <cstdlib>
#include <optional>
#include <thread>
#include <unordered_map>

namespace weir::tests {

using std::chrono::steady_clock;

namespace {

std::string text_in(const std::string& event, const std::string& name) {
  const auto field = '"' + name + R"(":")";
  const auto at = event.find(field);
  if (at == std::string::npos)
    return {};
  const auto begin = at + field.size();
  return event.substr(begin, event.find('"', begin) - begin);
}

/// Identifies a commit by its account and rev.
std::string name_of(const std::string& event) {
  return text_in(event, "did") + ' ' + text_in(event, "rev");
}

std::string name_of(const test_repo& x) {
  return x.did().str() + ' ' + x.rev().str();
}

} // namespace

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
  options.insert(options.end(), {"--memory-limit", "2GiB"});
  node_ = std::make_unique<hostile_node>(others, host_.url(), options);
  channel_ = std::make_unique<channel_client>(
    network_, node_->data_url(),
    [this](const std::vector<std::string_view>& texts) {
      return take(texts);
    });
}

std::vector<uint64_t>
followed_host::take(const std::vector<std::string_view>& texts) {
  const auto now = steady_clock::now();
  std::vector<uint64_t> ids;
  for (const auto text : texts) {
    const auto id = text.find(R"("id":)") + 5;
    ids.push_back(std::strtoull(text.data() + id, nullptr, 10));
    if (text.find(R"("live":true)") != std::string_view::npos)
      live_.push({std::string{text}, now});
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

bytes followed_host::next_frame() {
  ++seq_;
  repos_.splice(repos_.end(), repos_, repos_.begin());
  auto& repo = repos_.back();
  repo.put("app.test.note/live", make_record(std::to_string(seq_)));
  auto draft = repo.draft();
  draft.seq = seq_;
  return draft.encode(draft.sign(repo.key()));
}

bool followed_host::commit(size_t commits) {
  for (; commits > 0; --commits) {
    EXPECT_TRUE(stream_.send(next_frame()));
    std::optional<arrival> event;
    do
      event = live_.pop(node_patience);
    while (event && name_of(event->text) != name_of(last_writer()));
    if (!event) {
      ADD_FAILURE() << "commit " << seq_ << " never came";
      return false;
    }
  }
  return true;
}

std::vector<double>
followed_host::commit_in_time(size_t commits, std::chrono::milliseconds pace,
                              const std::function<void(size_t)>& before) {
  std::unordered_map<std::string, size_t> numbers;
  const auto first = steady_clock::now() + pace;
  for (size_t i = 0; i < commits; ++i) {
    // Signed before its time, so that signing delays nothing.
    const auto frame = next_frame();
    numbers.emplace(name_of(last_writer()), i);
    std::this_thread::sleep_until(first + i * pace);
    if (before)
      before(i);
    EXPECT_TRUE(stream_.send(frame));
  }
  std::vector<double> out(commits);
  while (!numbers.empty()) {
    const auto event = live_.pop(node_patience);
    if (!event) {
      ADD_FAILURE() << numbers.size() << " commits never came";
      return {};
    }
    const auto known = numbers.extract(name_of(event->text));
    if (known.empty())
      continue;
    const auto i = known.mapped();
    const std::chrono::duration<double, std::milli> late
      = event->at - (first + i * pace);
    out[i] = late.count();
  }
  return out;
}

} // namespace weir::tests

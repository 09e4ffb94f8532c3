#include "tests/system/commit_load.hpp"

#include "tests/system/patience.hpp"

#include <algorithm>
#include <cstdlib>

namespace weir::tests {

namespace {

using std::chrono::steady_clock;

/// The value after this key of an event, up to its quote.
std::string_view text_behind(std::string_view event, std::string_view key) {
  const auto at = event.find(key);
  if (at == std::string_view::npos)
    return {};
  event.remove_prefix(at + key.size());
  return event.substr(0, event.find('"'));
}

std::chrono::milliseconds since(steady_clock::time_point x) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
    steady_clock::now() - x);
}

} // namespace

commit_load::commit_load(const net::transport_ptr& network,
                         const std::string& data_url, hostile_stream& stream,
                         std::list<live_repo>& repos)
  : stream_(stream), repos_(repos) {
  channel_ = std::make_unique<channel_client>(
    network, data_url, [this](const std::vector<std::string_view>& texts) {
      return take(texts);
    });
  worker_ = std::thread{[this] {
    work();
  }};
}

commit_load::~commit_load() {
  {
    const std::lock_guard lock{guard_};
    over_ = true;
  }
  changed_.notify_all();
  if (worker_.joinable())
    worker_.join();
  channel_->hang_up();
}

// -- sending ------------------------------------------------------------------

void commit_load::work() {
  for (;;) {
    {
      std::unique_lock lock{guard_};
      changed_.wait(lock, [this] {
        return over_ || waiting_ < window;
      });
      if (over_)
        return;
    }
    if (!send_next()) {
      const std::lock_guard lock{guard_};
      surprise_ += "the stream has ended; ";
      return;
    }
  }
}

bool commit_load::send_next() {
  const std::lock_guard order{sending_};
  auto& repo = repos_.front();
  repos_.splice(repos_.end(), repos_, repos_.begin());
  const auto text = std::to_string(++seq_);
  repo.put("app.test.note/live", make_record(text));
  auto draft = repo.draft();
  draft.seq = seq_;
  const auto frame = draft.encode(draft.sign(repo.key()));
  {
    const std::lock_guard lock{guard_};
    on_their_way_[repo.did().str()].emplace_back(text, steady_clock::now());
    ++waiting_;
  }
  return stream_.send(frame);
}

bool commit_load::send(const std::function<bytes(int64_t)>& make) {
  const std::lock_guard order{sending_};
  return stream_.send(make(++seq_));
}

bool commit_load::stop() {
  {
    const std::lock_guard lock{guard_};
    over_ = true;
  }
  changed_.notify_all();
  worker_.join();
  std::unique_lock lock{guard_};
  return changed_.wait_for(lock, node_patience, [this] {
    return waiting_ == 0;
  });
}

// -- what comes ---------------------------------------------------------------

std::vector<uint64_t>
commit_load::take(const std::vector<std::string_view>& texts) {
  std::vector<uint64_t> ids;
  {
    const std::lock_guard lock{guard_};
    for (const auto text : texts) {
      const auto id = text.find(R"("id":)") + 5;
      ids.push_back(std::strtoull(text.data() + id, nullptr, 10));
      if (text.find(R"("live":true)") != std::string_view::npos)
        arrive(text);
    }
  }
  changed_.notify_all();
  return ids;
}

void commit_load::arrive(std::string_view text) {
  const auto repo
    = on_their_way_.find(std::string{text_behind(text, R"("did":")")});
  if (repo == on_their_way_.end())
    return; // The frame's account makes no commits and is gone.
  auto& expected = repo->second;
  if (expected.empty()
      || expected.front().first != text_behind(text, R"("text":")")) {
    surprise_ += std::string{text} + "; ";
    return;
  }
  told_.longest = std::max(told_.longest, since(expected.front().second));
  ++told_.commits;
  expected.pop_front();
  --waiting_;
}

commit_load::told commit_load::ask() {
  const std::lock_guard lock{guard_};
  auto out = std::exchange(told_, {});
  // A commit that has not come counts as late, too.
  for (const auto& [repo, expected] : on_their_way_)
    if (!expected.empty())
      out.longest = std::max(out.longest, since(expected.front().second));
  out.time = since(std::exchange(since_, steady_clock::now()));
  return out;
}

bool commit_load::await(size_t commits) {
  std::unique_lock lock{guard_};
  return changed_.wait_for(lock, node_patience, [&] {
    return told_.commits >= commits;
  });
}

std::string commit_load::surprise() const {
  const std::lock_guard lock{guard_};
  return surprise_;
}

std::ostream& operator<<(std::ostream& out, const commit_load::told& x) {
  return out << x.commits << " commits in " << x.time.count()
             << " ms, the longest took " << x.longest.count() << " ms";
}

} // namespace weir::tests

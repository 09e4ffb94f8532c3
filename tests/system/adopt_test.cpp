#include "apps/weir/web_client.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/complete_network.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

// ADR 14: an id never has two contents, even when an older copy of the data
// directory is restored.
namespace weir::tests {

namespace {

namespace files = std::filesystem;

uint64_t id_in(std::string_view event) {
  constexpr std::string_view name = R"("id":)";
  return std::stoull(std::string{event.substr(event.find(name) + name.size())});
}

/// An application that keeps every event under its id.
class keeping_application {
public:
  void connect(const std::string& data_url) {
    channel_ = std::make_unique<channel_client>(
      web_->transport(), data_url,
      [this](const auto& events) { return take(events); });
  }

  void hang_up() { channel_.reset(); }

  void ack(uint64_t id) { channel_->ack(id); }

  size_t size() const {
    const std::lock_guard lock{guard_};
    return kept_.size();
  }

  uint64_t last() const {
    const std::lock_guard lock{guard_};
    return kept_.empty() ? 0 : kept_.rbegin()->first;
  }

  /// Number of events that came with the id of another event.
  size_t mixed_up() const {
    const std::lock_guard lock{guard_};
    return mixed_up_;
  }

private:
  std::vector<uint64_t> take(const std::vector<std::string_view>& events) {
    const std::lock_guard lock{guard_};
    std::vector<uint64_t> out;
    for (const auto x : events) {
      out.push_back(id_in(x));
      const auto [at, fresh] = kept_.emplace(out.back(), x);
      mixed_up_ += fresh || at->second == x ? 0u : 1u;
    }
    return out;
  }

  std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
  mutable std::mutex guard_;
  std::map<uint64_t, std::string> kept_;
  size_t mixed_up_ = 0;
  std::unique_ptr<channel_client> channel_; ///< Ends first.
};

/// Damages the end of the file that LevelDB wrote last.
void damage_log(const std::string& data) {
  files::path newest;
  for (const auto& x : files::directory_iterator{data})
    if (x.path().extension() == ".log" && x.path() > newest)
      newest = x.path();
  std::fstream file{newest, std::ios::in | std::ios::out | std::ios::binary};
  file.seekg(-10, std::ios::end);
  const auto was = static_cast<char>(file.get());
  file.seekp(-10, std::ios::end);
  file.put(static_cast<char>(was ^ 0x10));
  ASSERT_TRUE(file);
}

class AdoptTest : public testing::Test {
protected:
  void SetUp() override {
    app.connect(net.node().data_url());
    ASSERT_TRUE(net.await_lively());
    ASSERT_TRUE(all_came());
  }

  /// Waits until all events so far have come and were acked.
  bool all_came() {
    return eventually(node_patience, [this] {
      return net.node().metric("weir_consumer_backlog_events ") == 0;
    });
  }

  /// Stops the node, changes its directory, and starts it.
  void with_directory(const std::function<void(const std::string&)>& change) {
    app.hang_up();
    net.node().restart([&] { change(net.node().data_dir()); });
    app.connect(net.node().data_url());
  }

  void back_up() {
    with_directory([this](const std::string& data) {
      files::copy(data, backup(), files::copy_options::recursive);
    });
  }

  void put_back(const std::string& data) {
    files::remove_all(data);
    files::copy(backup(), data, files::copy_options::recursive);
  }

  /// Makes some events of each account.
  void write_and_take() {
    const auto before = app.size();
    for (size_t i = 0; i < 12; ++i)
      net.life().traffic().post(i);
    EXPECT_TRUE(eventually(node_patience, [&] {
      return app.size() >= before + 12;
    }));
    EXPECT_TRUE(all_came());
  }

  std::string backup() const { return dir.at("backup"); }

  std::string epoch() {
    const auto status = net.node().status();
    constexpr std::string_view name = R"("log_epoch":")";
    const auto begin = status.find(name) + name.size();
    return status.substr(begin, status.find('"', begin) - begin);
  }

  /// docs/api.md, `GET /v1/status`: the log's epoch and the ids that it gave.
  void expect_told_to_applications() {
    const auto answer
      = apps::web_client::make()->get(net.node().data_url() + "/v1/status");
    ASSERT_TRUE(answer) << answer.error().context;
    const auto told = boost::json::parse(as_text(answer->body)).as_object();
    EXPECT_EQ(std::string{told.at("log_epoch").as_string()}, epoch());
    EXPECT_EQ(told.at("log_begin").to_number<uint64_t>(), 1u)
      << "ids of before are of this log, too";
    EXPECT_GE(told.at("log_end").to_number<uint64_t>(), app.last());
  }

  const temp_dir dir;
  complete_network net{120};
  keeping_application app;
};

} // namespace

TEST_F(AdoptTest, AnOldCopyThatWasAdoptedGivesNoIdTwice) {
  back_up();
  write_and_take();
  const auto seen = app.last();
  const auto first_epoch = epoch();
  EXPECT_EQ(first_epoch.substr(16), ".1");
  with_directory([this](const std::string& data) {
    put_back(data);
    const auto adopted = run_program({"adopt", data});
    EXPECT_EQ(adopted.status, 0) << adopted.errors;
    EXPECT_NE(adopted.output.find("events from now on have ids from"),
              std::string::npos);
  });
  EXPECT_NE(epoch(), first_epoch);
  EXPECT_EQ(epoch().substr(0, 16), first_epoch.substr(0, 16));
  EXPECT_NE(net.node().log().find(R"("log_epoch":")" + epoch()),
            std::string::npos)
    << net.node().log();
  write_and_take();
  EXPECT_TRUE(net.await_whole());
  EXPECT_GT(app.last(), seen + (uint64_t{1} << 32));
  expect_told_to_applications();
  EXPECT_EQ(app.mixed_up(), 0u);
  EXPECT_EQ(net.node().metric("weir_consumer_foreign_acks_total"), 0u);
  // Acks of the new ids are kept.
  const auto before = app.size();
  with_directory([](const std::string& data) {
    const auto checked = run_program({"verify", data});
    EXPECT_EQ(checked.status, 0) << checked.output;
  });
  EXPECT_TRUE(net.await_whole());
  EXPECT_EQ(net.node().metric("weir_delivered_total"), 0u);
  EXPECT_EQ(app.size(), before);
}

// A damaged end of the log counts as cut off by a power failure.
TEST_F(AdoptTest, AnAdoptionOutlivesDamageToWhatWasWrittenLast) {
  const auto first_epoch = epoch();
  with_directory([](const std::string& data) {
    EXPECT_EQ(run_program({"adopt", data}).status, 0);
    damage_log(data);
  });
  EXPECT_NE(epoch(), first_epoch);
  EXPECT_TRUE(net.await_whole());
}

TEST_F(AdoptTest, OneThatWasNotIsNoticedByWhatItsApplicationAcks) {
  back_up();
  write_and_take();
  const auto seen = app.last();
  with_directory([this](const std::string& data) { put_back(data); });
  app.ack(seen + 100);
  EXPECT_TRUE(
    net.node().await_metric("weir_consumer_foreign_acks_total", 1));
  app.ack(seen + 100); // Named once a minute: limits::foreign_ack_interval.
  EXPECT_TRUE(
    net.node().await_metric("weir_consumer_foreign_acks_total", 2));
  const auto log = net.node().log();
  const auto line = log.find(R"("event":"foreign_ack","consumer":"channel","id":")"
                             + std::to_string(seen + 100));
  ASSERT_NE(line, std::string::npos) << log;
  EXPECT_NE(log.find("weir adopt", line), std::string::npos);
  EXPECT_EQ(log.find("foreign_ack", line + 20), std::string::npos);
}

TEST_F(AdoptTest, WhatANodeUsesAndWhatIsNoStoreAreRefused) {
  const auto running = run_program({"adopt", net.node().data_dir()});
  EXPECT_EQ(running.status, 2);
  EXPECT_NE(running.errors.find("in use by process"), std::string::npos)
    << running.errors;
  const auto nothing = run_program({"adopt", dir.at("nothing")});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_NE(nothing.errors.find("there is no store in"), std::string::npos);
  EXPECT_FALSE(files::exists(dir.at("nothing")));
}

} // namespace weir::tests

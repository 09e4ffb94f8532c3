#pragma once

#include "actors/backfill/backfill.hpp"
#include "tests/support/repo_builder.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A BACKFILL whose host is the test.
namespace weir::tests {

using namespace weir::actors;

/// A download whose body the test delivers.
class scripted_download final : public net::http_call {
public:
  void grant(uint64_t bytes) override { grants.push_back(bytes); }

  void cancel() override { cancelled = true; }

  std::vector<uint64_t> grants;
  bool cancelled = false;
};

class BackfillShellTest : public ShellFixture {
protected:
  BackfillShellTest() {
    shared->supervisor = supervisor.as<supervisor_actor>();
  }

  /// A repo with this number of records.
  static test_repo repo_of(size_t records) {
    test_repo out;
    for (size_t i = 0; i < records; ++i)
      out.put("app.test.note/" + std::to_string(10'000 + i), make_record("x"));
    out.commit();
    return out;
  }

  void start(
    const test_repo& of, backfill_environment env = {},
    std::function<bool()> on_disk = [] {
      return false;
    }) {
    time = manual_clock{of.now()};
    env.shared = shared;
    env.fetch
      = [this](const std::string&, const atproto::did&, const backfill_actor&) {
          return body;
        };
    env.spools = [on_disk = std::move(on_disk)] {
      import_spools out;
      out.store = atproto::make_memory_spool(1 << 26);
      out.index = atproto::make_memory_spool(1 << 26);
      out.on_disk = on_disk;
      return out;
    };
    env.bytes = &shared->metrics.counter("bytes", "");
    env.records = &shared->metrics.counter("records", "");
    fetch_order order;
    order.job = 9;
    order.pds = "https://a.test";
    order.key = of.key().public_part();
    backfill = keep(spawn_backfill(sys, env, of.did(), order,
                                   repo.as<repo_actor>()));
  }

  void head(int status, std::chrono::seconds retry_after = 0s,
            const std::string& type = {}) {
    tell(backfill, fetch_head{status, retry_after, type});
  }

  void piece(const bytes& x) { tell(backfill, fetch_bytes{shared_bytes{x}}); }

  void piece(std::string_view x) {
    tell(backfill, fetch_bytes{shared_bytes::copy_of(as_bytes(x))});
  }

  void end() { tell(backfill, fetch_ended{}); }

  uint64_t held() const { return shared->memory->held(memory_use::fetches); }

  /// The REPO's report of a failed fetch.
  repo_fetch_failed failure() {
    const auto told = repo.take<repo_fetch_failed>();
    EXPECT_EQ(told.size(), 1u);
    return told.empty() ? repo_fetch_failed{} : told[0];
  }

  std::shared_ptr<scripted_download> body
    = std::make_shared<scripted_download>();
  probe repo{sys};
  probe supervisor{sys};
  backfill_actor backfill;
};

} // namespace weir::tests

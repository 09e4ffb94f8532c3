#include "actors/backfill/fetch_machine.hpp"
#include "actors/backfill/limits.hpp"
#include "tests/support/repo_builder.hpp"

#include <gtest/gtest.h>

namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using namespace weir::actors;
using storage::account_status;

/// One fetch of a repo of `records` records, of which the node has nothing.
class running_fetch {
public:
  explicit running_fetch(size_t records = 1, size_t chunks_max = 2) {
    for (size_t i = 0; i < records; ++i)
      repo.put("app.test.note/" + std::to_string(10'000 + i), make_record("x"));
    repo.commit();
    import_order order;
    order.repo = repo.did();
    order.key = repo.key().public_part();
    import = std::make_shared<import_machine>(
      std::move(order), atproto::make_memory_spool(1 << 26),
      atproto::make_memory_spool(1 << 26));
    machine.emplace(import, fetch_bounds{.chunks_max = chunks_max},
                    steady_time{});
  }

  fetch_machine::effects answer(int status, std::string_view body) {
    machine->on_head({status, 40s});
    auto out = machine->on_bytes(as_bytes(body), steady_time{});
    return out.end ? out : machine->on_end({}, repo.now());
  }

  /// The complete CAR arrives.
  void download() {
    const auto car = repo.export_car();
    const auto out = answer(200, as_text(car));
    ASSERT_FALSE(out.end);
  }

  /// Takes all steps that are permitted; returns the number of chunks.
  size_t run() {
    size_t chunks = 0;
    while (machine->may_step()) {
      const auto out = machine->on_step(import->step(64));
      chunks += out.chunk ? 1 : 0;
      if (out.end)
        end = out.end;
    }
    return chunks;
  }

  test_repo repo;
  std::shared_ptr<import_machine> import;
  std::optional<fetch_machine> machine;
  std::optional<fetch_machine::ending> end;
};

// protocol-coverage.md 5
TEST(FetchMachineTest, WhatAnAnswerSaysOfHostAndAccount) {
  struct row {
    int status;
    std::string_view body;
    ec code;
    host_verdict host;
    std::optional<account_status> account;
    std::optional<std::string> host_fault;
  };
  const auto takendown = R"({"error":"RepoTakendown"})";
  for (const auto& x : {
         row{429, "", ec::rate_limited, host_verdict::rate_limited, {}, {}},
         row{400, takendown, ec::account_inactive, host_verdict::fine,
             account_status::takendown, ""},
         row{404, takendown, ec::account_inactive, host_verdict::fine,
             account_status::takendown, ""},
         row{401, takendown, ec::unreachable, host_verdict::fine, {},
             "unreachable: HTTP 401 RepoTakendown"},
         row{404, "<html>", ec::not_found, host_verdict::fine, {},
             "not_found: HTTP 404 "},
         row{500, "", ec::unreachable, host_verdict::failed, {},
             "unreachable: HTTP 500 "},
       }) {
    running_fetch fetch;
    const auto end = fetch.answer(x.status, x.body).end;
    ASSERT_TRUE(end) << x.status;
    EXPECT_EQ(end->outcome.error().code, x.code) << x.status << x.body;
    EXPECT_EQ(end->host, x.host) << x.status << x.body;
    EXPECT_EQ(end->account, x.account) << x.status << x.body;
    EXPECT_EQ(end->host_fault, x.host_fault) << x.status << x.body;
    EXPECT_EQ(end->retry_after, 40s);
    EXPECT_FALSE(fetch.machine->may_step());
  }
}

TEST(FetchMachineTest, ASuccessCountsForTheHostAndAFaultOfOursDoesNotCount) {
  running_fetch good;
  good.download();
  good.run();
  ASSERT_TRUE(good.end);
  EXPECT_TRUE(good.end->outcome);
  EXPECT_EQ(good.end->host_fault, "");
  running_fetch ours;
  ours.download();
  const auto end = ours.machine->on_step(fail(ec::disk_full, "no spool")).end;
  ASSERT_TRUE(end);
  EXPECT_EQ(end->host_fault, std::nullopt);
}

TEST(FetchMachineTest, AHostThatSaysNothingIsSilentAndOneThatBreaksOffFailed) {
  const auto broken = fail(ec::unreachable, "the connection ended");
  running_fetch silent;
  EXPECT_EQ(silent.machine->on_end(broken, silent.repo.now()).end->host,
            host_verdict::silent);
  running_fetch half;
  half.machine->on_head({200, 0s});
  EXPECT_EQ(half.machine->on_end(broken, half.repo.now()).end->host,
            host_verdict::failed);
}

// limits::job_chunks_max is the limit; here it is two
TEST(FetchMachineTest, StepsRestWhileAChunkHasNoRoom) {
  running_fetch x{4 * limits::chunk_ops_max};
  x.download();
  EXPECT_EQ(x.run(), 2u);
  EXPECT_FALSE(x.machine->may_step());
  EXPECT_FALSE(x.end);
  EXPECT_TRUE(x.machine->on_chunk_stored().chunk) << "the one that waited";
  EXPECT_TRUE(x.machine->may_step());
  EXPECT_EQ(x.run(), 0u) << "the next one waits";
  const auto last = x.machine->on_chunk_stored();
  EXPECT_TRUE(last.chunk);
  x.run();
  EXPECT_TRUE(last.end || x.end) << "all was handed out";
}

TEST(FetchMachineTest, AStepThatEndsAfterAFailureChangesNothing) {
  running_fetch x;
  x.download();
  ASSERT_TRUE(x.machine->on_step(fail(ec::storage_failure, "no spool")).end);
  import_progress done;
  done.done = true;
  const auto late = x.machine->on_step(std::move(done));
  EXPECT_FALSE(late.end);
  EXPECT_FALSE(x.machine->may_step());
}

} // namespace
} // namespace weir::tests

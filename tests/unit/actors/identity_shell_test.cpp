#include "actors/identity/limits.hpp"
#include "actors/support/limits.hpp"
#include "atproto/limits.hpp"
#include "storage/tables/identity_table.hpp"
#include "tests/unit/actors/identity_shell_world.hpp"

// actors.md, Who is looked up next: an asker gets one answer for each question.
namespace weir::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

atproto::did plc_name(uint64_t i) {
  return atproto::did::trusted("did:plc:r" + std::to_string(i));
}

/// An IDENTITY that reads the directory's export as soon as somebody waits.
class ExportShellTest : public IdentityShellTest {
protected:
  ExportShellTest() {
    shared->stores = {shared->places(), {&rows}};
    export_options exported;
    exported.directory = "https://plc.test";
    exported.wanted_min = 1;
    identity_options slow;
    slow.per_second = 0.1; // One look-up, so all others wait.
    other = keep(spawn_identity(sys, shared, slow, network, exported));
    read_store();
  }

  void run_jobs(probe& of) {
    for (auto& job : of.take<reader_job>())
      job.run(rows);
    run();
  }

  void read_store() { run_jobs(reader); }

  void write() {
    for (auto& x : journal.take<journal_rows>()) {
      store.commit(*x.rows);
      tell(other, rows_durable{x.token});
    }
  }

  /// The export is short: its first page has operations of the names from 1 to
  /// `count`, and the next one has nothing new.
  void read_export(uint64_t count) {
    tell(other, export_page{}); // The question whether it is long.
    read_store();
    pass(std::chrono::milliseconds{1});
    ASSERT_EQ(network->pages.size(), 2u);
    export_page page;
    page.read = true;
    for (uint64_t i = 1; i <= count; ++i) {
      auto& x = page.operations->emplace_back();
      x.number = i;
      x.id = "op" + std::to_string(i);
      x.repo = plc_name(i);
      x.doc.emplace();
      x.doc->signing_key = "zExported" + std::to_string(i);
    }
    tell(other, page);
    write();
    pass(std::chrono::milliseconds{1});
    ASSERT_EQ(network->pages.size(), 3u);
    page.operations->erase(page.operations->begin(),
                           page.operations->end() - 1);
    tell(other, page);
    write();
  }

  storage::tail_cache tail{1};
  store_readers rows{*store.db, *store.names, tail};
  identity_actor other;
};

} // namespace

TEST_F(IdentityShellTest, OneWhoAsksTwiceHearsOnceAndOthersHearToo) {
  ask(ann);
  ask(ann);
  ask(bob);
  EXPECT_EQ(reader.count<reader_job>(), 1u);
  EXPECT_GT(shared->memory->held(memory_use::identity), 0u);
  not_stored();
  EXPECT_THAT(network->documents, ElementsAre(shell_repo(1)));
  document();
  EXPECT_THAT(keys(ann), ElementsAre("zKey1"));
  EXPECT_THAT(keys(bob), ElementsAre("zKey1"));
  EXPECT_EQ(journal.count<journal_rows>(), 1u);
}

// architecture.md, When memory runs short: limits::lookup_failure_bytes
TEST_F(IdentityShellTest, FailuresThatAreRememberedCountAsMemory) {
  ask(ann);
  not_stored();
  const auto held = [this] {
    return shared->memory->held(memory_use::identity);
  };
  const auto before = held();
  no_document();
  EXPECT_EQ(held(), before - limits::identity_entry_bytes
                      + limits::lookup_failure_bytes);
}

TEST_F(IdentityShellTest, OneWhoAsksOfTwoReposHearsOfBoth) {
  ask(ann, 1);
  ask(ann, 2);
  not_stored(1);
  not_stored(2);
  document(2);
  EXPECT_THAT(keys(ann), ElementsAre("zKey2"));
  document(1);
  EXPECT_THAT(keys(ann), ElementsAre("zKey1"));
}

// When an asker has its last answer, its number is free, and it may ask again.
TEST_F(IdentityShellTest, OneWhoHeardMayAskAgain) {
  ask(ann);
  not_stored();
  document();
  keys(ann);
  ask(ann);
  EXPECT_THAT(keys(ann), ElementsAre("zKey1")) << "from memory";
  ask(ann, 1, true);
  EXPECT_THAT(keys(ann), IsEmpty());
  document();
  EXPECT_THAT(keys(ann), ElementsAre("zKey1"));
  EXPECT_EQ(network->documents.size(), 2u);
}

// protocol-coverage.md 8.4: the document at once, the handle when it was
// verified
TEST_F(IdentityShellTest, AVerifiedHandleIsToldToThoseWhoAsked) {
  ask(ann);
  not_stored();
  document(1, "ann.test");
  EXPECT_THAT(keys(ann), ElementsAre("zKey1"));
  EXPECT_THAT(network->handles, ElementsAre("ann.test"));
  tell(identity, identity_handle{shell_repo(1), "ann.test", shell_repo(1)});
  const auto facts = ann.take<identity_answer>();
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0].fact->handle, "ann.test");
}

TEST_F(IdentityShellTest, AFailureIsToldAsOne) {
  ask(ann);
  not_stored();
  identity_document x;
  x.repo = shell_repo(1);
  x.doc = fail(ec::not_found, "no such DID");
  tell(identity, x);
  const auto facts = ann.take<identity_answer>();
  ASSERT_EQ(facts.size(), 1u);
  ASSERT_FALSE(facts[0].fact);
  EXPECT_EQ(facts[0].fact.error().code, ec::not_found);
}

// A REPO that died while it waited blocks nothing, and its successor's question
// takes its place.
TEST_F(IdentityShellTest, ADeadAskerDoesNotHoldUpOthers) {
  ask(ann);
  not_stored();
  ann.die();
  run();
  ask(bob);
  document();
  EXPECT_THAT(keys(bob), ElementsAre("zKey1"));
  EXPECT_THAT(keys(ann), IsEmpty());
  ask(bob, 1, true);
  document();
  EXPECT_THAT(keys(bob), ElementsAre("zKey1"));
}

// limits::identity_in_flight_max
TEST_F(IdentityShellTest, LookUpsOnTheWireAreBounded) {
  identity_options options;
  options.per_second = limits::plc_per_second_range.max;
  const auto other = keep(spawn_identity(sys, shared, options, network));
  const auto repo = [](size_t i) {
    return atproto::did::trusted("did:plc:r" + std::to_string(i));
  };
  for (size_t i = 1; i <= limits::identity_in_flight_max + 1; ++i) {
    tell(other, identity_ask{repo(i), false}, ann.as<identity_sink>());
    tell(other, identity_stored{repo(i), std::nullopt});
  }
  EXPECT_EQ(network->documents.size(), limits::identity_in_flight_max);
  identity_document first;
  first.repo = repo(1);
  tell(other, first);
  EXPECT_EQ(network->documents.size(), limits::identity_in_flight_max + 1);
}

// architecture.md, A wrong clock: limits::clock_witness_memory
TEST_F(IdentityShellTest, TheDirectorysDateIsToldToWhoJudgesTheClock) {
  shared->signers.begin(1, 1);
  const auto verdict = [this] {
    return shared->signers.verdict(1, time.steady_now(), time.wall_now());
  };
  identity_document said;
  said.repo = shell_repo(1);
  tell(identity, said);
  EXPECT_EQ(verdict(), clock_verdict::undecided);
  said.date = time.wall_now() + 1h;
  tell(identity, said);
  EXPECT_EQ(shared->signers.look(time.steady_now(), time.wall_now())
              .directory_ahead,
            1h);
  said.date = time.wall_now();
  tell(identity, said);
  EXPECT_EQ(verdict(), clock_verdict::undecided) << "anybody may have said that";
  said.date_is_proved = true;
  tell(identity, said);
  EXPECT_EQ(verdict(), clock_verdict::right);
}

// docs/adr/0015-the-export-of-the-directory.md: it is read when this many
// documents are needed, and answers those that wait.
TEST_F(ExportShellTest, TheExportServesWhoWaits) {
  tell(other, identity_ask{plc_name(9), false}, bob.as<identity_sink>());
  tell(other, identity_ask{plc_name(1), false}, ann.as<identity_sink>());
  ASSERT_THAT(network->pages,
              ElementsAre(std::pair<uint64_t, size_t>(1'000, 1)));
  read_export(2);
  EXPECT_EQ(network->pages[1].second, limits::export_page_lines);
  EXPECT_EQ(storage::load_export_place(*store.db).value().whole_at,
            time.wall_now().seconds());
  EXPECT_THAT(keys(ann), IsEmpty());
  read_store();
  EXPECT_THAT(keys(ann), ElementsAre("zExported1"));
  // A later asker is served at once.
  tell(other, identity_ask{plc_name(2), false}, bob.as<identity_sink>());
  read_store();
  EXPECT_THAT(keys(bob), ElementsAre("zExported2"));
  write();
  EXPECT_THAT(storage::list_exported(*store.db, 10).value(), IsEmpty());
  EXPECT_TRUE(storage::load_identity(*store.db, plc_name(2)).value());
}

// limits::export_names_page: a row is a read from disk, so the READERs share
// them.
TEST_F(ExportShellTest, EachReaderLooksForOnePageOfThoseWhoWait) {
  probe second{sys};
  home->readers.push_back(second.as<reader_actor>());
  tell(other, identity_ask{plc_name(0), false}, bob.as<identity_sink>());
  for (size_t i = 1; i <= limits::export_names_page + 1; ++i)
    tell(other, identity_ask{plc_name(i), false}, ann.as<identity_sink>());
  run_jobs(second);
  read_export(1);
  EXPECT_EQ(reader.count<reader_job>(), 1u);
  EXPECT_EQ(second.count<reader_job>(), 1u);
}

// limits::export_names_page: rows of another mode or directory are deleted page
// by page.
TEST_F(IdentityShellTest, SoManyNamesOfTheExportAreForgottenAtATime) {
  storage::journal_batch had;
  for (size_t i = 0; i <= limits::export_names_page; ++i)
    had.exported.emplace_back(shell_repo(i), storage::identity_row{});
  had.export_place = storage::export_row{"https://other.test", 7, "op7", 0};
  store.commit(std::move(had));
  auto other = keep(
    spawn_identity(sys, shared, {}, network, export_options{}));
  storage::tail_cache tail{1};
  store_readers rows{*store.db, *store.names, tail};
  shared->stores = {shared->places(), {&rows}};
  std::vector<size_t> forgotten;
  for (int i = 0; i < 3; ++i) {
    for (auto& job : reader.take<reader_job>())
      job.run(rows);
    run();
    for (auto& x : journal.take<journal_rows>()) {
      forgotten.push_back(x.rows->exported.size());
      store.commit(*x.rows);
      tell(other, rows_durable{x.token});
    }
  }
  EXPECT_THAT(forgotten, ElementsAre(limits::export_names_page, 1u));
  EXPECT_THAT(storage::list_exported(*store.db, 10).value(), IsEmpty());
  EXPECT_EQ(storage::load_export_place(*store.db).value(),
            storage::export_row{});
}

} // namespace weir::tests

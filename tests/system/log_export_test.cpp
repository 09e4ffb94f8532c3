#include "storage/format/account_fact.hpp"
#include "storage/format/keys.hpp"
#include "storage/log/committer.hpp"
#include "storage/log/leveldb_store.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/tables/chain_table.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/store_left.hpp"
#include "tests/system/verify_store.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>

// `weir export` and `weir import`: the log of a node as files that other
// programs can read, and a data directory made from them, with any number of
// partitions (OPLOG-02, OPLOG-08).

namespace weir::tests {

namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The numbers that a command prints, by their names.
std::map<std::string, uint64_t> numbers_in(const std::string& text) {
  std::map<std::string, uint64_t> out;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find(": "); at != std::string::npos)
      out[line.substr(0, at)] = std::strtoull(&line[at + 2], nullptr, 10);
  return out;
}

/// What the reader in another language says of an export.
std::string read_by_another(const std::string& directory) {
  const auto command
    = "python3 " WEIR_SEGMENT_READER " '" + directory + "' 2>&1";
  std::string out;
  auto* from = popen(command.c_str(), "r");
  for (char c = 0; std::fread(&c, 1, 1, from) == 1;)
    out += c;
  EXPECT_EQ(pclose(from), 0) << out;
  return out;
}

/// The lines that name streams, with their ends and hashes.
std::string streams_in(const std::string& text) {
  return text.substr(std::min(text.find("\ndid:"), text.size()));
}

class LogExportTest : public verify_store {
protected:
  finished export_to(const std::string& to) {
    return run_program({"export", data, to});
  }

  finished import_into(const std::string& to,
                       std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"import", out, to});
    return run_program(std::move(more));
  }

  void export_all() {
    const auto x = export_to(out);
    ASSERT_EQ(x.status, 0) << x.errors;
    exported = numbers_in(x.output);
    EXPECT_EQ(exported["operations left out"], 0u);
  }

  /// Appends what the node would say of an account with this handle.
  static void say_of(const std::string& directory, const atproto::did& repo,
                     const std::string& handle) {
    const auto db = store_of(directory, repo);
    const auto store
      = storage::leveldb_store::open(*db, system_clock()).value();
    storage::repo_row row;
    row.handle = handle;
    storage::indexed_operation fact;
    fact.index = store->next_index({repo, "$identity"}).value();
    fact.operation.scope = storage::identity_scope;
    fact.operation.action = atproto::op_action::update;
    fact.operation.content
      = shared_bytes::copy_of(as_bytes(storage::fact_json(row)));
    fact.operation.id = atproto::cid::of_raw(fact.operation.content.view());
    storage::apply_request request;
    request.repo = repo;
    request.streams = {{"$identity", fact.index}};
    const auto done
      = store->apply(request, [&](storage::operation_staging& to) {
          return to.add_operations(fact);
        });
    ASSERT_EQ(done.value().outcome, storage::apply_outcome::done)
      << done->reason;
  }

  /// The account and a collection that it has records in.
  std::vector<std::string> some_stream() {
    return {net.life().truth().view(0).id.str(), "app.bsky.feed.post"};
  }

  const std::string out = dir.at("export");
  std::map<std::string, uint64_t> exported;
};

} // namespace

// OPLOG-02, OPLOG-08: whatever the number of partitions, the copy is sound and
// has the same streams with the same hashes.
TEST_F(LogExportTest, AnImportHasEqualStreams) {
  export_all();
  const auto streams = streams_in(read_by_another(out));
  ASSERT_NE(streams, "");
  for (const auto* partitions : {"1", "3"}) {
    const auto copy = dir.at(std::string{"copy-"} + partitions);
    const auto x = import_into(copy, {"--partitions", partitions});
    ASSERT_EQ(x.status, 0) << x.errors;
    EXPECT_EQ(numbers_in(x.output)["operations"], exported["operations"]);
    const auto verdict = verify(copy);
    EXPECT_EQ(verdict.findings, "") << verdict.errors;
    EXPECT_EQ(verdict.count("operations"), exported["operations"]);
    const auto again = dir.at(std::string{"again-"} + partitions);
    const auto y = run_program({"export", copy, again});
    ASSERT_EQ(y.status, 0) << y.errors;
    EXPECT_EQ(streams_in(read_by_another(again)), streams);
  }
}

// docs/segment-format.md is enough to read an export.
TEST_F(LogExportTest, AReaderInAnotherLanguageReadsAllOfIt) {
  export_all();
  const auto read = numbers_in(read_by_another(out));
  EXPECT_EQ(read.at("operations"), exported["operations"]);
  EXPECT_EQ(read.at("transactions"), exported["transactions"]);
  EXPECT_EQ(read.at("repos"), net.life().truth().accounts());
}

// A node that starts on an import finds that it lacks nothing.
TEST_F(LogExportTest, ANodeGoesOnFromAnImport) {
  export_all();
  const auto copy = dir.at("copy");
  ASSERT_EQ(import_into(copy, {"--partitions", "2"}).status, 0);
  std::vector<std::string> more{"--partitions", "2"};
  const auto web = apps::web_client::make();
  program node{net.arguments(copy, more), {"WEIR_PARTITIONS=2"}};
  const auto at = parse_ready(node.read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node.errors());
  const auto accounts = net.life().truth().accounts();
  EXPECT_TRUE(eventually(node_patience, [&] {
    return status_of(*web, at).synced == accounts;
  }));
  node.send(SIGTERM);
  ASSERT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
  const auto verdict = verify(copy, {"--against", net.urls().relay});
  EXPECT_EQ(verdict.findings, "") << verdict.errors;
}

TEST_F(LogExportTest, AnImportCanBeRepeatedAndADifferentOneIsRefused) {
  export_all();
  const auto copy = dir.at("copy");
  ASSERT_EQ(import_into(copy).status, 0);
  const auto again = import_into(copy);
  EXPECT_EQ(again.status, 0) << again.errors;
  EXPECT_EQ(numbers_in(again.output)["operations"], 0u);
  EXPECT_EQ(numbers_in(again.output)["operations there already"],
            exported["operations"]);
  const auto other = import_into(copy, {"--partitions", "2"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("partitions"));
}

// OPLOG-12, OPLOG-13, OPLOG-14, OPLOG-11: both kinds of stores print the same.
TEST_F(LogExportTest, AStreamReadsTheSameFromBoth) {
  export_all();
  const auto print = [&](const std::string& from,
                         std::vector<std::string> more) {
    const auto stream = some_stream();
    std::vector<std::string> arguments{"operations", from};
    arguments.insert(arguments.end(), stream.begin(), stream.end());
    std::move(more.begin(), more.end(), std::back_inserter(arguments));
    const auto x = run_program(std::move(arguments));
    EXPECT_EQ(x.status, 0) << x.errors;
    std::string lines; // Without ids and write times, which differ.
    std::istringstream all{x.output};
    for (std::string line; std::getline(all, line);) {
      auto value = boost::json::parse(line).as_object();
      value.erase("id");
      value.erase("written_ms");
      lines += boost::json::serialize(value) + "\n";
    }
    return lines;
  };
  const auto all = print(data, {});
  EXPECT_NE(all, "");
  for (const auto& more : std::vector<std::vector<std::string>>{
         {}, {"--after", "1"}, {"--index", "0"}, {"--limit", "2"},
         {"--since", "1"}})
    EXPECT_EQ(print(out, more), print(data, more));
  EXPECT_EQ(print(out, {"--index", "0"}), all.substr(0, all.find('\n') + 1));
  const auto header = [&](const std::string& from,
                          std::vector<std::string> more) {
    more.insert(more.begin(), {"header", from, some_stream().front()});
    const auto text = run_program(std::move(more)).output;
    return text.substr(0, text.find("as of"));
  };
  EXPECT_THAT(header(data, {}), HasSubstr("handle: "));
  EXPECT_EQ(header(out, {}), header(data, {}));
  EXPECT_EQ(header(out, {"--commits", "1"}), header(data, {"--commits", "1"}));
}

// OPLOG-04, OPLOG-10, OPLOG-33, OPLOG-34: two directories that went on apart
// from each other are not mixed, and the import says why.
TEST_F(LogExportTest, AnotherHistoryIsRefused) {
  export_all();
  const auto copy = dir.at("copy");
  ASSERT_EQ(import_into(copy).status, 0);
  const auto repo = net.life().truth().view(0).id;
  say_of(data, repo, "one.test");
  say_of(copy, repo, "other.test");
  std::filesystem::remove_all(out);
  ASSERT_EQ(export_to(out).status, 0);
  const auto before = verify(copy).count("operations");
  const auto x = import_into(copy);
  EXPECT_EQ(x.status, 2) << x.output;
  EXPECT_THAT(x.errors, HasSubstr("revision_mismatch"));
  EXPECT_THAT(x.errors, HasSubstr(repo.str()));
  EXPECT_EQ(verify(copy).count("operations"), before);
}

TEST_F(LogExportTest, AnErasedRepoIsLeftOut) {
  const auto repo = net.life().truth().view(0).id;
  {
    const auto db = store_of(data, repo);
    const auto names = storage::collection_table::load(*db).value();
    manual_clock time;
    const auto writer = storage::committer::open(*db, *names, time).value();
    storage::journal_batch group;
    auto& update = group.updates.emplace_back();
    update.repo = repo;
    update.base = storage::load_chain(*db, *names, repo).value();
    update.commit_revision = update.base->commit_revision();
    update.erase = update.forget = true;
    ASSERT_EQ(writer->commit(group).value().receipts.front().outcome,
              storage::update_outcome::done);
  }
  const auto x = export_to(out);
  ASSERT_EQ(x.status, 0) << x.errors;
  exported = numbers_in(x.output);
  EXPECT_EQ(exported["repos left out"], 1u);
  EXPECT_GT(exported["operations left out"], 0u);
  const auto read = read_by_another(out);
  EXPECT_THAT(read, testing::Not(HasSubstr(repo.str())));
  const auto copy = dir.at("copy");
  ASSERT_EQ(import_into(copy).status, 0);
  EXPECT_EQ(verify(copy).findings, "");
}

TEST_F(LogExportTest, ATrimmedLogIsRefused) {
  damaged_copy trimmed{data};
  trimmed.put(storage::encode_key(
                storage::meta_key{storage::log_whole_from_row}),
              storage::encode_value(storage::counter{2}));
  const auto x = run_program({"export", trimmed.close(), out});
  EXPECT_EQ(x.status, 2);
  EXPECT_THAT(x.errors, HasSubstr("trimmed"));
}

TEST_F(LogExportTest, WhatIsNotWholeIsNotImported) {
  export_all();
  const auto copy = dir.at("copy");
  std::filesystem::remove(out + "/COMPLETE");
  const auto open_end = import_into(copy);
  EXPECT_EQ(open_end.status, 2);
  EXPECT_THAT(open_end.errors, HasSubstr("did not end"));
  EXPECT_FALSE(std::filesystem::exists(copy));
  const auto again = export_to(out);
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.errors, HasSubstr("choose a new directory"));
  EXPECT_EQ(run_program({"export", dir.at("nothing"), dir.at("x")}).status, 2);
  EXPECT_EQ(run_program({"import", dir.at("nothing"), dir.at("x")}).status, 2);
}

} // namespace weir::tests

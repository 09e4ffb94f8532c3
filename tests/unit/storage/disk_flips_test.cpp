#include "tests/support/disk_trials.hpp"
#include "tests/unit/storage/full_store.hpp"
#include "tests/unit/storage/store_fixture.hpp"

// One flipped bit in any file of a closed store: the store is refused, the
// damage is found, or no answer changes (testing.md, Disk; storage-format.md
// 1.1). The long form: WEIR_DISK_FLIPS=1000000000 flips a bit of every byte.

namespace weir::storage {
namespace {

using tests::flip_outcome;
using tests::full_store;
using tests::memory_disk;
using tests::test_store;

using all_rows = std::map<std::string, std::string>;

bool has_cut(const memory_disk& disk) {
  const auto names = disk.names();
  return std::any_of(names.begin(), names.end(), [](const auto& x) {
    return x.find("/cut-") != std::string::npos;
  });
}

/// All rows; no value when one cannot be read.
std::optional<all_rows> rows_of(const database& db) {
  all_rows out;
  auto rows = db.scan({});
  for (; rows.valid(); rows.next())
    out.emplace(rows.key(), rows.value());
  if (!rows.status())
    return std::nullopt;
  return out;
}

/// The rows that an owner of the store reads; no value when an error is
/// reported.
std::optional<all_rows> answers_of(memory_disk& disk) {
  test_store store{disk, {}};
  if (const auto ok = store.try_open(); !ok) {
    EXPECT_NE(ok.error().context.find("/store"), std::string::npos)
      << to_string(ok.error());
    return std::nullopt;
  }
  auto out = rows_of(*store.db);
  return out && store.findings().empty() ? out : std::nullopt;
}

/// A store with rows of every kind, in tables and in the log, and the rows
/// without its last batch.
class closed_store {
public:
  closed_store() {
    full_store store;
    store.reopen();
    auto& who = store.synced;
    who.accept(
      store.commit(who.commit({{"app.b.y/2", std::string(900, 'm')}})));
    auto earlier = store.disk.clone();
    who.accept(
      store.commit(who.commit({{"app.b.y/3", std::string(900, 'n')}})));
    store.close();
    disk = store.disk.clone();
    disk->write("/store/OWNER", "1234");
    disk->write("/store/LOCK", "lock");
    rows = answers_of(*disk->clone()).value();
    rows_before = answers_of(*earlier).value();
  }

  flip_outcome judge(memory_disk& flipped, const std::string& name) const {
    const auto seen = answers_of(flipped);
    if (!seen)
      return flip_outcome::found;
    if (*seen == rows)
      return flip_outcome::unchanged;
    // The last record of a log cannot be distinguished from one that was never
    // acknowledged: it is cut off and kept in a file.
    const bool cut
      = name.ends_with(".log") && *seen == rows_before && has_cut(flipped);
    return cut ? flip_outcome::found : flip_outcome::wrong;
  }

  std::unique_ptr<memory_disk> disk;
  all_rows rows;
  all_rows rows_before;
};

/// The kind of a file.
std::string kind_of(const std::string& path) {
  const auto name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("MANIFEST-"))
    return "MANIFEST";
  const auto dot = name.rfind('.');
  return dot == std::string::npos || name.starts_with("LOG")
           ? name.substr(0, dot)
           : name.substr(dot);
}

} // namespace

TEST(DiskFlipsTest, AFlippedBitIsFoundOrChangesNoAnswer) {
  const closed_store sound;
  ASSERT_NE(sound.rows, sound.rows_before);
  const auto report = tests::flip_bits(
    *sound.disk,
    [&](memory_disk& disk, const std::string& name) {
      return sound.judge(disk, name);
    },
    tests::number_from("WEIR_DISK_FLIPS", 250), 1);
  EXPECT_EQ(report.failures, "");
  std::map<std::string, tests::flip_report::tally> kinds;
  for (const auto& [name, x] : report.files) {
    auto& all = kinds[kind_of(name)];
    all.flips += x.flips;
    all.found += x.found;
  }
  // These contain data, all of which is read.
  for (const auto* kind : {"FORMAT", "CURRENT", "MANIFEST", ".log"})
    EXPECT_GT(kinds[kind].found, 0u) << kind;
  EXPECT_EQ(kinds["FORMAT"].found, kinds["FORMAT"].flips);
  EXPECT_GT(kinds[".ldb"].found, kinds[".ldb"].flips / 2);
  // These contain no data: only their lock counts, and the info log is for
  // people.
  for (const auto* kind : {"OWNER", "LOCK", "LOG"}) {
    EXPECT_GT(kinds[kind].flips, 0u) << kind;
    EXPECT_EQ(kinds[kind].found, 0u) << kind;
  }
}

} // namespace weir::storage

#include "storage/disk/store_identity.hpp"
#include "tests/unit/storage/backup_fixture.hpp"

#include <fstream>
#include <future>
#include <thread>

namespace weir::storage {

namespace {

namespace files = std::filesystem;
using testing::HasSubstr;

class RestoreTest : public tests::BackupTest {
protected:
  RestoreTest() {
    store->release_memory();
    put(20);
    folder = back_up().value().folder;
    list = load_backup_list(*disk, folder).value();
  }

  std::string refusal_of_check() {
    const auto x = check_backup(*disk, folder);
    return x ? std::string{"it is good"} : x.error().context;
  }

  std::string refusal(const std::string& where) {
    const auto x = restoration::begin(*disk, folder, where);
    return x ? std::string{"it was begun"} : x.error().context;
  }

  /// Does something to one file of the backup, and undoes it.
  void expect_found(const std::string& path, const std::string& why,
                    const std::function<void(const std::string&)>& damage) {
    const auto file = folder + "/" + path;
    const auto kept = dir.at("kept");
    files::copy_file(file, kept);
    damage(file);
    EXPECT_THAT(refusal_of_check(), HasSubstr(why)) << path;
    EXPECT_THAT(refusal_of_check(), HasSubstr(path));
    const auto where = dir.at("damaged");
    auto x = restoration::begin(*disk, folder, where);
    EXPECT_FALSE(x && x->copy()) << path;
    if (x)
      x->give_up();
    EXPECT_FALSE(files::exists(where));
    files::remove(file);
    files::rename(kept, file);
  }

  std::string folder;
  backup_list list;
};

void append(const std::string& file, const std::string& text) {
  std::ofstream{file, std::ios::binary | std::ios::app} << text;
}

} // namespace

TEST_F(RestoreTest, EveryFileIsComparedWithTheList) {
  ASSERT_EQ(refusal_of_check(), "it is good");
  for (const auto& x : list.files) {
    expect_found(x.path, "is gone", [](const std::string& file) {
      files::remove(file);
    });
    expect_found(x.path, "bytes instead of", [](const std::string& file) {
      append(file, "x");
    });
    expect_found(x.path, "bytes instead of", [](const std::string& file) {
      files::resize_file(file, files::file_size(file) - 1);
    });
    expect_found(x.path, "has another content", [](const std::string& file) {
      std::fstream out{file, std::ios::in | std::ios::out | std::ios::binary};
      out.seekg(-1, std::ios::end);
      const auto last = static_cast<char>(out.get());
      out.seekp(-1, std::ios::end);
      out.put(static_cast<char>(last ^ 1));
    });
  }
  EXPECT_EQ(refusal_of_check(), "it is good");
}

TEST_F(RestoreTest, OnlyAnEmptyDirectoryIsFilled) {
  files::create_directory(dir.at("empty"));
  EXPECT_EQ(refusal(dir.at("empty")), "it was begun");
  EXPECT_EQ(refusal(dir.at("new")), "it was begun");
  EXPECT_THAT(refusal(data), HasSubstr("is not empty ("));
  EXPECT_THAT(refusal(dir.at("no/new")), HasSubstr("cannot be used"));
  files::create_directory(dir.at("open"));
  files::permissions(dir.at("open"), files::perms::others_write,
                     files::perm_options::add);
  EXPECT_THAT(refusal(dir.at("open")), HasSubstr("chmod go-w"));
  files::create_directories(dir.at("broken/restoring"));
  EXPECT_THAT(refusal(dir.at("broken")), HasSubstr("was not finished"));
}

// A restored store writes to its files, and those of the backup stay.
TEST_F(RestoreTest, TheBackupStaysAsItIs) {
  const auto where = dir.at("restored");
  auto x = restoration::begin(*disk, folder, where).value();
  x.copy().value();
  EXPECT_FALSE(read_store_identity(*disk, where).value());
  EXPECT_TRUE(read_store_identity(*disk, x.folder()).value());
  x.complete().value();
  EXPECT_FALSE(files::exists(x.folder()));
  for (const auto& each : list.files)
    EXPECT_EQ(files::hard_link_count(where + "/" + each.path), 1u);
  store = nullptr;
  tests::store_settings how;
  how.directory = where;
  store = tests::open_store(nullptr, how).value();
  EXPECT_EQ(tests::dense_rows(*store, rows), rows);
  put(1'000);
  store->release_memory();
  EXPECT_EQ(refusal_of_check(), "it is good");
}

TEST_F(RestoreTest, ADiskWithoutRoomIsSaidAtOnce) {
  tests::plain_disk small;
  disk = &small;
  small.free = list.bytes() - 1;
  EXPECT_THAT(refusal(dir.at("new")), HasSubstr("make room on that disk"));
  EXPECT_FALSE(files::exists(dir.at("new")));
  ++small.free;
  EXPECT_EQ(refusal(dir.at("new")), "it was begun");
}

TEST_F(RestoreTest, ABackupIsNoDataDirectory) {
  store = nullptr;
  tests::store_settings how;
  how.directory = folder;
  const auto opened = tests::open_store(nullptr, how);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().context, HasSubstr("weir restore"));
  how.access = access_mode::read_only; // As `weir verify` does.
  EXPECT_TRUE(tests::open_store(nullptr, how));
  EXPECT_EQ(refusal_of_check(), "it is good");
}

// All stores are captured at one moment.
TEST(RestorePartitionsTest, StoresAgreeWithEachOther) {
  const tests::temp_dir dir;
  database_options where;
  where.directory = dir.at("data");
  where.write_buffer_bytes = 65'536;
  where.block_cache_bytes = 65'536;
  auto stores = open_partition_stores(where, 3).value();
  std::promise<void> has_some;
  std::jthread worker{[&](const std::stop_token& end) {
    for (uint64_t i = 0; !end.stop_requested(); ++i) {
      for (const auto& x : stores)
        tests::put_row(*x, i, sync_mode::relaxed).value();
      if (i == 400)
        has_some.set_value();
    }
  }};
  has_some.get_future().wait();
  backup_order order{dir.at("backups"), where.directory, {}, "epoch",
                     {0, 0, 0}};
  for (const auto& x : stores)
    order.stores.push_back(x.get());
  auto writer
    = backup_writer::begin(std::move(order), posix_disk(), system_clock());
  ASSERT_TRUE(writer) << writer.error().context;
  while (!writer->step().value()) {}
  worker.request_stop();
  worker.join();
  where.directory = dir.at("restored");
  auto x = restoration::begin(posix_disk(), writer->summary().folder,
                              where.directory)
             .value();
  x.copy().value();
  x.complete().value();
  const auto copies = open_partition_stores(where, 3).value();
  constexpr uint64_t tried = 100'000;
  std::vector<uint64_t> rows;
  for (const auto& each : copies) {
    rows.push_back(0);
    while (rows.back() < tried && tests::has_row(*each, rows.back()))
      ++rows.back();
  }
  EXPECT_GT(rows[2], 400u);
  EXPECT_GE(rows[0], rows[1]);
  EXPECT_GE(rows[1], rows[2]);
  EXPECT_LE(rows[0], rows[2] + 1);
}

} // namespace weir::storage

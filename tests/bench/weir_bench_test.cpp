#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/stat.h>

// The program, run to its end with small inputs that only show that it works.

namespace weir::tests {
namespace {

namespace json = boost::json;

class WeirBenchTest : public testing::Test {
protected:
  finished bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--dir", dir.at("work")});
    return run_program(std::move(arguments));
  }

  /// The JSON lines of a run, by name.
  static std::map<std::string, json::object> read_lines(const std::string& at) {
    std::map<std::string, json::object> out;
    std::ifstream in{at};
    for (std::string line; std::getline(in, line);) {
      auto object = json::parse(line).as_object();
      const std::string name{object.at("name").as_string()};
      out[name] = std::move(object);
    }
    return out;
  }

  static void expect_positive(const json::object& x,
                              std::initializer_list<const char*> keys) {
    for (const auto* key : keys) {
      ASSERT_TRUE(x.contains(key)) << key;
      EXPECT_GT(x.at(key).to_number<double>(), 0) << key;
    }
  }

  static void expect_load(const json::object& x, const char* unit) {
    EXPECT_EQ(x.at("unit"), unit);
    EXPECT_FALSE(x.at("machine").as_string().empty());
    EXPECT_FALSE(x.at("version").as_string().empty());
    EXPECT_TRUE(x.at("quick").as_bool());
    EXPECT_EQ(x.at("seed").to_number<int>(), 5);
    EXPECT_TRUE(x.at("quiet").is_bool());
    expect_positive(x, {"median", "accounts", "records", "cores"});
    EXPECT_EQ(x.at("repeats").to_number<int>(), 2);
    ASSERT_EQ(x.at("runs").as_array().size(), 2u);
    for (const auto& run : x.at("runs").as_array())
      expect_positive(run.as_object(),
                      {"rate", "seconds", "calibration_before",
                       "calibration_after", "multiple", "node_cpu_micros"});
  }

  temp_dir dir;
};

TEST_F(WeirBenchTest, AQuickRunMeasuresEverythingAndWritesItDown) {
  const auto file = dir.at("figures.json");
  const auto run = bench(
    {"all", "--quick", "--seed", "5", "--repeats", "2", "--json", file});
  ASSERT_EQ(run.status, 0) << run.errors;
  const auto lines = read_lines(file);
  expect_load(lines.at("live"), "commits/s");
  expect_load(lines.at("steady"), "commits/s");
  // At once they would be over before the measurement begins, and that fails. A
  // node that was held up in the second before it has that second's commits,
  // too.
  for (const auto& x : lines.at("steady").at("runs").as_array()) {
    const auto seconds = x.at("seconds").to_number<double>();
    EXPECT_LE(x.at("rate").to_number<double>() * seconds, 200 * (seconds + 2));
  }
  expect_load(lines.at("backfill"), "records/s");
  for (const auto& x : lines.at("live").at("runs").as_array())
    expect_positive(x.as_object(), {"delivered_per_second"});
  for (const auto* name : {"live", "backfill"})
    for (const auto& x : lines.at(name).at("runs").as_array())
      expect_positive(x.as_object(), {"ratio_to_ceiling"});
  // It has the defaults and belongs to no group.
  const auto& first = lines.at("first");
  expect_load(first, "repos/s");
  EXPECT_EQ(first.at("accounts").to_number<int>(), 30);
  for (const auto& x : first.at("runs").as_array()) {
    EXPECT_FALSE(x.as_object().contains("ratio_to_ceiling"));
    EXPECT_NEAR(x.at("rate").to_number<double>()
                  * x.at("seconds").to_number<double>(),
                30, 0.001);
  }
  for (const auto* name :
       {"signature_k256", "signature_p256", "car_parse", "sha256_blocks",
        "commit_verify", "record_json", "repo_walk", "store_commit"}) {
    const auto& stage = lines.at(std::string{"micro."} + name);
    EXPECT_EQ(stage.at("unit"), "ns/op");
    expect_positive(stage, {"median", "reference", "ratio_to_reference",
                            "calibration_before", "calibration_after"});
  }
  for (const auto* part :
       {"calibration", "seconds", "commits/s", "records/s", "repos/s", "ns/op"})
    EXPECT_NE(run.output.find(part), std::string::npos) << part;
}

TEST_F(WeirBenchTest, NothingIsLeftButTheCorpora) {
  ASSERT_EQ(bench({"backfill", "--quick"}).status, 0);
  size_t corpora = 0;
  for (const auto& x : std::filesystem::directory_iterator{dir.at("work")}) {
    EXPECT_EQ(x.path().extension(), ".net") << x.path();
    ++corpora;
  }
  EXPECT_EQ(corpora, 1u);
}

TEST_F(WeirBenchTest, ACorpusThatIsCutOffIsNamed) {
  ASSERT_EQ(bench({"backfill", "--quick"}).status, 0);
  for (const auto& x : std::filesystem::directory_iterator{dir.at("work")})
    std::filesystem::resize_file(x.path(), 1'000);
  const auto run = bench({"backfill", "--quick"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("damaged or cut off; remove "), std::string::npos)
    << run.errors;
}

TEST_F(WeirBenchTest, AWorkloadThatDoesNotExistIsRefused) {
  const auto run = bench({"lively"});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.errors.find("lively"), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("backfill"), std::string::npos) << run.errors;
}

TEST_F(WeirBenchTest, ASeedThatIsNoNumberIsRefused) {
  const auto run = bench({"micro", "--seed", "apple"});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.errors.find("--seed"), std::string::npos) << run.errors;
}

TEST_F(WeirBenchTest, NoRepeatsAtAllAreRefused) {
  const auto run = bench({"live", "--repeats", "0"});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.errors.find("--repeats"), std::string::npos) << run.errors;
}

TEST_F(WeirBenchTest, AJsonFileThatCannotBeWrittenIsNamedBeforeTheWork) {
  const auto file = dir.at("none/figures.json");
  const auto run = bench({"all", "--quick", "--json", file});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.errors.find(file), std::string::npos) << run.errors;
  EXPECT_EQ(run.output, "");
}

// docs/hostile-inputs.md 2.4.3
TEST_F(WeirBenchTest, PipesAndDevicesAreNoFilesOfAnyOption) {
  const auto pipe = dir.at("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& special : {pipe, std::string{"/dev/null"}}) {
    program written{{"micro", "--quick", "--json", special}};
    EXPECT_EQ(written.wait(std::chrono::seconds{30}), 2);
    EXPECT_NE(written.errors().find(special + ": cannot be written: it is no"),
              std::string::npos)
      << written.errors();
    program work{{"backfill", "--quick", "--dir", special}};
    EXPECT_EQ(work.wait(std::chrono::seconds{30}), 1);
    EXPECT_NE(work.errors().find(special), std::string::npos) << work.errors();
  }
  ASSERT_EQ(bench({"backfill", "--quick"}).status, 0);
  const std::filesystem::directory_iterator corpora{dir.at("work")};
  const auto corpus = corpora->path();
  std::filesystem::remove(corpus);
  ASSERT_EQ(::mkfifo(corpus.c_str(), 0600), 0);
  program read{{"backfill", "--quick", "--dir", dir.at("work")}};
  EXPECT_EQ(read.wait(std::chrono::seconds{30}), 1);
  EXPECT_NE(read.errors().find("cannot be read: it is no file"),
            std::string::npos)
    << read.errors();
}

TEST_F(WeirBenchTest, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream{dir.at("work")} << "a file";
  const auto run = bench({"live", "--quick"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find(dir.at("work")), std::string::npos) << run.errors;
}

} // namespace
} // namespace weir::tests

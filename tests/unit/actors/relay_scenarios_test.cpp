#include "tests/unit/actors/relay_scenario.hpp"
#include "tests/unit/atproto/json_vectors.hpp"

#include <gmock/gmock.h>

#include <map>

// The scenarios of the reference relay: compares the outcome of each frame with
// the one in its files.

namespace weir::tests {
namespace {

using outcome = relay_scenario::outcome;

/// A frame of a scenario, by its index.
using frame_name = std::pair<std::string, size_t>;

/// protocol-coverage.md 2.5.8: a commit without prevData, or with an op without
/// prev, cannot be proved. So it is not applied, and the repo is fetched. The
/// relay passes such a commit on in its lenient mode.
constexpr auto no_prev_data = "unverifiable";

/// Frames that the relay passes on and that are not accepted here, with the
/// rule.
const std::map<frame_name, std::string>& not_followed() {
  static const std::map<frame_name, std::string> out{
    {{"deactivation", 0}, no_prev_data},
    {{"deactivation", 4}, no_prev_data},
    {{"deactivation", 5}, no_prev_data},
    {{"deactivation", 6}, no_prev_data},
    {{"deactivation", 7}, no_prev_data},
    {{"legacy", 2}, no_prev_data},
    {{"post_lifecycle_legacy", 0}, no_prev_data},
    {{"post_lifecycle_legacy", 1}, no_prev_data},
    {{"post_lifecycle_legacy", 2}, no_prev_data},
    {{"post_lifecycle_legacy", 3}, no_prev_data},
    {{"post_lifecycle_legacy", 4}, no_prev_data},
    {{"post_lifecycle_legacy", 5}, no_prev_data},
    {{"seq_ordering", 3}, no_prev_data},
  };
  return out;
}

/// Frames that the relay drops and that are dropped here, with the rule:
/// protocol-coverage.md 2.1.3, 2.1.1, 2.1.4 and 1.8.
const std::map<frame_name, std::string>& dropped() {
  static const std::map<frame_name, std::string> out{
    {{"deactivation", 2}, "inactive_account"},
    {{"rev_ordering", 1}, "bad_shape"},
    {{"rev_ordering", 2}, "replayed"},
    {{"seq_ordering", 1}, "upstream"},
    {{"seq_ordering", 2}, "upstream"},
  };
  return out;
}

/// The expectations in the file.
struct marks {
  explicit marks(const boost::json::value& message)
    : drop(message.at("drop").as_bool()),
      invalid(message.at("invalid").as_bool()),
      update(message.at("update").as_bool()) {}

  bool drop;
  bool invalid;
  bool update;
};

struct tally {
  size_t frames = 0;
  std::map<frame_name, std::string> dropped; ///< With the rule of each.
  size_t updates = 0;
  std::map<frame_name, std::string> otherwise; ///< With the rule of each.
};

void play(const std::filesystem::path& path, bool relay, tally& out) {
  const auto file = read_json(path);
  relay_scenario scenario{file, relay};
  size_t place = 0;
  for (const auto& message : file.at("messages").as_array()) {
    const frame_name name{path.stem().string(), place++};
    SCOPED_TRACE(name.first + ' ' + std::to_string(name.second));
    const marks asked{message};
    EXPECT_FALSE(asked.invalid) << "no frame has this mark; say what it means";
    const auto is = scenario.take(message);
    EXPECT_EQ(is.updated, asked.update);
    if (is.how != (asked.drop ? outcome::dropped : outcome::passed)) {
      EXPECT_EQ(is.how, outcome::fetched);
      out.otherwise.emplace(name, is.why);
    }
    ++out.frames;
    if (asked.drop)
      out.dropped.emplace(name, is.why);
    out.updates += asked.update;
  }
}

// protocol-coverage.md 1.8, 2.1.3, 2.1.4, 2.5.8, 2.5.10, 4.4, 11.7: includes
// the cases in which the relay is lenient
TEST(RelayScenariosTest, EveryFrameIsTreatedAsItsMarksSay) {
  WEIR_VECTORS(folder, "vectors/indigo/cmd/relay/testing/testdata");
  for (const auto relay : {false, true}) {
    SCOPED_TRACE(relay ? "of a relay" : "of the PDS");
    tally all;
    size_t files = 0;
    for (const auto& x : std::filesystem::directory_iterator{folder}) {
      ++files;
      play(x.path(), relay, all);
    }
    EXPECT_EQ(files, 7u);
    EXPECT_EQ(all.frames, 35u);
    EXPECT_EQ(all.dropped, dropped());
    EXPECT_EQ(all.updates, 3u);
    EXPECT_EQ(all.otherwise, not_followed());
  }
}

} // namespace
} // namespace weir::tests

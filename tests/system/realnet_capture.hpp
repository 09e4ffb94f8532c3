#pragma once

#include "atproto/frame.hpp"
#include "base/bytes.hpp"

#include <boost/json.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::tests {

/// What two real PDSs and their directory did in fourteen account scenarios
/// (vectors/realnet), in order of time.
struct realnet_capture {
  static constexpr size_t hosts = 2;

  /// A frame, or an operation of the directory.
  struct happening {
    std::string time;
    size_t host = 0;
    int64_t seq = 0;    ///< 0: an operation of the directory.
    shared_bytes frame; ///< Empty: an operation of the directory.
    std::string did;
    boost::json::object operation; ///< Of the directory.

    bool is_frame() const noexcept { return !frame.empty(); }
  };

  /// The state that an engine must have reached at the end.
  struct account {
    std::string scenario; ///< Empty: the account only posted.
    std::string handle;
    std::string pds; ///< The origin when the capture was made.
    std::string status;
    bool active = false;
    bool tombstoned = false;
    std::string rev;  ///< Empty: deleted.
    std::string head; ///< The CID of the commit; empty as `rev`.
    std::map<std::string, std::string> records; ///< Path to CID.
    bytes car; ///< The answer of getRepo; empty when it was refused.

    /// Clears everything that only an active account has.
    void be_away(std::string why) {
      status = std::move(why);
      active = false;
      records.clear();
      rev.clear();
      head.clear();
    }
  };

  explicit realnet_capture(const std::filesystem::path& folder);

  std::vector<happening> story;
  std::map<std::string, account> accounts; ///< By DID.
  std::array<std::string, hosts> urls; ///< Origins when the capture was made.
  /// Answers of listRepos at the end.
  std::array<boost::json::array, hosts> listings;
};

} // namespace weir::tests

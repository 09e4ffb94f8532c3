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

/// What a real PDS pair and its directory did through fourteen account
/// scenarios (vectors/realnet), in the order in which it happened.
struct realnet_capture {
  static constexpr size_t hosts = 2;

  /// A frame, or an operation of the directory.
  struct happening {
    std::string time;
    size_t host = 0;
    int64_t seq = 0;    ///< 0: the directory's.
    shared_bytes frame; ///< Empty: the directory's.
    std::string did;
    boost::json::object operation; ///< Of the directory.

    bool is_frame() const noexcept { return !frame.empty(); }
  };

  /// What an engine must have reached at the end.
  struct account {
    std::string scenario; ///< Empty: it only posted.
    std::string handle;
    std::string pds; ///< Origin at that time.
    std::string status;
    bool active = false;
    bool tombstoned = false;
    std::string rev;                            ///< Empty: deleted.
    std::string head;                           ///< Of the commit; as `rev`.
    std::map<std::string, std::string> records; ///< Path to CID.
    bytes car; ///< What getRepo gave; empty: refused.

    /// Nothing of its repo is left.
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
  std::map<std::string, account> accounts;        ///< By DID.
  std::array<std::string, hosts> urls;            ///< Origins at that time.
  std::array<boost::json::array, hosts> listings; ///< listRepos at the end.
};

} // namespace weir::tests

#pragma once

#include "tests/unit/actors/repo_world.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>

namespace weir::tests {

/// One of the scenarios that the reference relay is tested with, played to the
/// rules of UPSTREAM and REPO: frames in order on one connection, each finished
/// before the next comes. A repo that is out of sync is fetched at once, as far
/// as the host was then, by the account's newest commit of the frames.
class relay_scenario {
public:
  /// How a frame ended.
  enum class outcome {
    passed,  ///< What it says holds here, and applications are told.
    dropped, ///< Nothing changed.
    fetched, ///< It was not believed, and the repo was fetched.
  };

  struct treatment {
    outcome how = outcome::dropped;
    std::string why;      ///< By which rule, of a commit or #sync.
    bool updated = false; ///< The account is in another state than before.
  };

  /// @param file As it lies in the vectors.
  /// @param relay The connection is one to a relay; else to the account's PDS.
  relay_scenario(const boost::json::value& file, bool relay);

  treatment take(const boost::json::value& message);

private:
  void begin_synced(const boost::json::value& body);
  void begin_new(const boost::json::value& file);
  void remember_state(const shared_bytes& frame);
  void fetch_if_wanted();
  outcome outcome_of(const upstream_machine::effects& x);

  atproto::did did_;
  repo_world world_;
  stream stream_;
  /// The newest that the host has, as the account signed it.
  std::optional<atproto::verified_root> newest_;
  uint64_t jobs_ = 0;
  std::string why_; ///< Of the frame that is played.
};

} // namespace weir::tests

#pragma once

#include "tests/unit/actors/repo_world.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>

namespace weir::tests {

/// Plays one of the scenarios with which the reference relay is tested to the
/// rules of UPSTREAM and REPO. Frames come in order on one connection, and each
/// is finished before the next. A repo that is out of sync is fetched at once,
/// in the host's state at that time, which is the newest commit of the account
/// in the frames.
class relay_scenario {
public:
  /// The result of a frame.
  enum class outcome {
    passed,  ///< Its content is accepted, and applications get it.
    dropped, ///< Nothing changed.
    fetched, ///< It was not accepted, and the repo was fetched.
  };

  struct treatment {
    outcome how = outcome::dropped;
    std::string why;      ///< The rule that decided about a commit or #sync.
    bool updated = false; ///< The account's state has changed.
  };

  /// @param file The scenario's file in the vectors.
  /// @param relay Whether the connection leads to a relay; otherwise to the
  /// account's PDS.
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
  /// The newest commit at the host, as the account signed it.
  std::optional<atproto::verified_root> newest_;
  uint64_t jobs_ = 0;
  std::string why_; ///< The rule for the frame that is played.
};

} // namespace weir::tests

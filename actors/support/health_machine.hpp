#pragma once

#include "actors/support/clock_machine.hpp"
#include "actors/support/health_finding.hpp"
#include "actors/support/limits_health.hpp"
#include "actors/support/outcome_tally.hpp"
#include "actors/support/upstream_view.hpp"
#include "actors/support/write_health.hpp"
#include "atproto/identifiers.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::actors {

/// Why a node is not ready, one text for each reason (`/readyz`): it starts,
/// streams are not open and it does not work without them, it has too little of
/// something (`shortages`), or a cause is failing.
std::vector<std::string>
reasons_to_wait(bool started, const std::vector<upstream_view>& streams,
                const std::vector<std::string>& shortages,
                const std::vector<health_finding>& causes);

/// How the look-up of an identity ended.
enum class look_up_fault : uint8_t {
  none,
  unreachable, ///< The directory cannot be reached, or did not answer as one.
  lost,        ///< It no longer finds a DID whose document it had.
  unknown,     ///< It does not know the DID.
  foreign,     ///< Not found, but in words that no directory uses.
  limited,     ///< It answered 429: the look-up is repeated.
  unusable,    ///< The document has no key or no host, or the DID is gone.
};

/// Decides why most of a node's work fails, if it does (architecture.md,
/// Health). It is fed with the outcome of each piece of work and judges them
/// when asked. No clock, threads or I/O in here; all that it remembers is
/// bounded.
///
/// One failure is no finding, except for a directory or resolver that never
/// answered. An idle node is well. One bad host does not decide the node's
/// health: fetches that mostly fail are named, but stop a node only when most
/// hosts fail. DIDs that are unknown or unusable count only when accounts that
/// were proved are missing, too. An upstream is named, but stops a node only
/// when most upstreams, or all relays, are bad.
///
/// What failed and is not tried any more is neither bad nor well: its finding
/// says so. The directory is asked for a document regularly, so its state is
/// known.
class health_machine {
public:
  /// @param resolver Empty: none is asked.
  void begin(std::string directory, std::string resolver = {}) {
    directory_url_ = std::move(directory);
    resolver_url_ = std::move(resolver);
  }

  /// An account that the directory should know.
  /// @param proved The directory has or had it: the first few such accounts are
  /// kept for tests, until one is missed while others are found.
  void remember(const atproto::did& x, bool proved);

  /// A proved account of an earlier life. The directory is asked for it once,
  /// because no other look-up may follow for long. Its host gave its repo, so
  /// that host answered well then.
  void recall(const atproto::did& x, const std::string& host, steady_time now);

  /// The directory is asked for a document, the resolver for a handle.
  void on_asked(bool resolver, steady_time now) noexcept {
    if (!resolver)
      directory_.ask(now);
    else if (!resolver_url_.empty())
      resolver_.ask(now);
  }

  /// A handle was answered without the resolver.
  void on_resolver_unasked() noexcept { resolver_.withdraw(); }

  /// A look-up at the directory; other hosts answer only for their own DIDs.
  void on_look_up(uint64_t subject, look_up_fault fault, std::string_view text,
                  steady_time now);

  /// The directory asked (429) not to be asked before `until`.
  void on_directory_rest(steady_time until, steady_time now);

  /// The resolver was asked for the owner of a handle.
  /// @param failure Empty: the resolver answered, even if nobody has the
  /// handle.
  void on_handle(std::string_view failure, steady_time now);

  /// @param failure Empty: the host answered as it should.
  void on_fetch(uint64_t subject, const std::string& host,
                std::string_view failure, steady_time now);

  /// @param reason One of a small set; 0: the commit was valid.
  void on_commit(uint32_t upstream, uint64_t subject, uint8_t reason,
                 std::string_view text, steady_time now);

  /// The listing that an upstream owes cannot be read, so stale repos are not
  /// known.
  /// @param trouble Why; empty: it was read.
  void on_listing(uint32_t upstream, std::string_view trouble);

  /// The holders of records of the signal collection cannot be read there.
  /// @param trouble Why; empty: they were read.
  void on_holders(uint32_t upstream, std::string_view trouble);

  /// Its accounts' documents name other origins than its configured one, so all
  /// of its frames about them are refused.
  /// @param trouble Why; empty: a document names it.
  /// @param remedy What to do about it.
  void on_origin(uint32_t upstream, std::string trouble, std::string remedy);

  /// The write to a store that has been under way for the longest time.
  /// @param since None: no write is under way.
  void on_write(std::string where, std::optional<steady_time> since) {
    write_ = {std::move(where), since};
  }

  /// Whether a write does not return, as of the last look.
  bool write_hangs() const noexcept;

  struct news {
    std::vector<health_finding> begun;
    std::vector<health_finding> ended;
    /// Look up this account to test whether the directory answers.
    std::optional<atproto::did> probe;
  };

  /// Judges anew. @returns what changed.
  news look(const std::vector<upstream_view>& streams, const clock_state& clock,
            steady_time now, wall_time wall);

  /// An account that the directory should know.
  std::optional<atproto::did> known() const;

  const std::vector<health_finding>& findings() const noexcept {
    return findings_;
  }

private:
  /// The connection of one stream, as seen at each look. A stream that is open
  /// only for a moment does not count as connected.
  struct stream_state {
    outcome_tally commits;
    std::string listing; ///< Why the listing that it owes cannot be read.
    /// Why the holders of the signal collection are not known.
    std::string holders;
    std::string origin; ///< Why it is not the host that documents name.
    std::string remedy; ///< Remedy for `origin`.
    std::optional<steady_time> open_since;
    std::optional<steady_time> away_since;
    bool is_away = false;
  };

  static bool is_away(stream_state& x, bool connected, steady_time now);
  using views = std::vector<upstream_view>;
  using findings_list = std::vector<health_finding>;
  findings_list judge(const views&, const clock_state&, steady_time now);
  std::optional<health_finding> judge_directory(steady_time now);
  void judge_work(steady_time now, findings_list& out);
  static std::optional<health_finding>
  judge_stream(const upstream_view& x, stream_state& known, steady_time now);
  size_t judge_streams(const views&, steady_time now, findings_list& out);
  void judge_commits(const views&, size_t named, steady_time now,
                     findings_list& out);
  bool misses_known(steady_time now);
  std::optional<atproto::did> next_probe(const clock_state&, steady_time now);

  /// An account for testing the directory.
  struct known_account {
    atproto::did id;
    bool proved = false;
    bool missed = false; ///< Not found since another DID was found.
    bool must_ask = false;
    steady_time probe_at{}; ///< It is not probed before this time.
  };

  std::string directory_url_;
  std::string resolver_url_;
  service_answers directory_;
  service_answers resolver_;
  outcome_tally look_ups_;
  outcome_tally limited_;  ///< DIDs whose look-up was answered with 429.
  outcome_tally unusable_; ///< Unknown or unusable since another DID was found.
  outcome_tally fetches_;
  outcome_tally hosts_{1, limits::health_hosts_max, true};
  std::string failing_host_;
  outcome_tally commits_;
  outcome_tally refusing_{1};        ///< Upstreams, each by its last commit.
  uint32_t last_refused_ = 0;        ///< The upstream of that commit.
  std::vector<known_account> known_; ///< Proved accounts, or one that is not.
  steady_time probe_at_;             ///< No probe before this time.
  steady_time rest_until_;           ///< End of a long pause of the directory.
  std::chrono::seconds rest_{0};     ///< Length of that pause.
  std::map<uint32_t, stream_state> streams_;
  write_health write_;
  std::vector<health_finding> findings_;
};

} // namespace weir::actors

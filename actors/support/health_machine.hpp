#pragma once

#include "actors/support/clock_machine.hpp"
#include "actors/support/limits_health.hpp"
#include "actors/support/outcome_tally.hpp"
#include "actors/support/service_answers.hpp"
#include "actors/support/upstream_view.hpp"
#include "atproto/identifiers.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::actors {

/// Why a node that runs does not do its work.
enum class health_cause : uint8_t {
  /// Most identities cannot be looked up there, or it has never answered.
  directory,
  resolver,  ///< It does not answer who asks for the owner of a handle.
  clock,     ///< Many signers are beyond it, or the directory's differs.
  /// One is not connected, stalls, does not give a listing that it owes, is not
  /// named by its accounts' documents, or most of its commits are refused.
  upstream,
  fetch,     ///< Most repos cannot be fetched, from most hosts.
  commits,   ///< Most are refused, of most upstreams, by however few of each.
};

/// All of them, in the order in which they are shown.
inline constexpr std::array health_causes{
  health_cause::directory, health_cause::resolver, health_cause::clock,
  health_cause::upstream,  health_cause::fetch,    health_cause::commits};

const char* to_string(health_cause x) noexcept;

/// What whoever runs the node can do about it, in a sentence.
const char* remedy_of(health_cause x) noexcept;

/// What a cause means for the node.
enum class health_level : uint8_t {
  failing,  ///< It does not do its work.
  degraded, ///< It does all but a part.
  unproved, ///< Nothing of it has failed for minutes, and nothing succeeded.
};

const char* to_string(health_level x) noexcept;

struct health_finding {
  health_cause cause = health_cause::directory;
  std::string where; ///< A URL; empty for `clock`.
  std::string error; ///< What the last failure said; from outside.
  wall_time since;
  health_level level = health_level::failing;
  std::string own_remedy; ///< Empty: what every cause of this kind has.

  /// What whoever runs the node can do about it, in a sentence.
  std::string_view remedy() const noexcept {
    return own_remedy.empty() ? remedy_of(cause) : std::string_view{own_remedy};
  }

  bool is_same(const health_finding& x) const noexcept {
    return cause == x.cause && (cause != health_cause::upstream
                                || where == x.where);
  }
};

/// How the look-up of an identity ended.
enum class look_up_fault : uint8_t {
  none,
  unreachable, ///< The directory, or it did not answer as one.
  lost,        ///< It does not find a DID any more whose document it had.
  unknown,     ///< It knows no such DID.
  foreign,     ///< Nor does this, and it says so as no directory does.
  limited,     ///< It has answered 429: the look-up is made again.
  unusable,    ///< The document has no key or no host, or the DID is gone.
};

/// What most of a node's work fails for, if it does (architecture.md, Health):
/// fed with the outcome of each piece of work, asked now and then. No clock,
/// threads or I/O in here; all that it remembers is bounded.
///
/// One failure is nothing, but of a directory or a resolver that never answered;
/// an idle node is well, and one bad host is not the node's health: fetches that mostly fail are named, but stop a node only when
/// most hosts fail; DIDs that are unknown or unusable count only when those that
/// were proved are missing as well; and an upstream is named but stops a node
/// only when most others, or all relays, are bad, too.
///
/// What failed and is not tried any more is neither bad nor well: it is named
/// as that. The directory is asked for a document now and then, so there it is
/// known.
class health_machine {
public:
  /// @param resolver Empty: none is asked.
  void begin(std::string directory, std::string resolver = {}) {
    directory_url_ = std::move(directory);
    resolver_url_ = std::move(resolver);
  }

  /// An account that the directory should know.
  /// @param proved It does, or did: the first few are kept as its measure, until
  ///        one is missed while others are found.
  void remember(const atproto::did& x, bool proved);

  /// One that an earlier life had: to be asked for once, because nobody else may
  /// be for long. Its host gave its repo: it answered well then.
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

  /// One at the directory; other hosts answer for their own DIDs only.
  void on_look_up(uint64_t subject, look_up_fault fault, std::string_view text,
                  steady_time now);

  /// The directory asked (429) not to be asked before `until`.
  void on_directory_rest(steady_time until, steady_time now);

  /// The resolver was asked for the owner of a handle.
  /// @param failure Empty: it answered, if only that nobody has that handle.
  void on_handle(std::string_view failure, steady_time now);

  /// @param failure Empty: the host answered as it should.
  void on_fetch(uint64_t subject, const std::string& host,
                std::string_view failure, steady_time now);

  /// @param reason Of a small set; 0: it was sound.
  void on_commit(uint32_t upstream, uint64_t subject, uint8_t reason,
                 std::string_view text, steady_time now);

  /// The listing that an upstream owes cannot be had: nobody knows which repos
  /// are stale.
  /// @param trouble Why; empty: it was had.
  void on_listing(uint32_t upstream, std::string_view trouble);

  /// Who has records of the signal collection is not known there.
  /// @param trouble Why; empty: it is known.
  void on_holders(uint32_t upstream, std::string_view trouble);

  /// Its accounts' documents name other origins than the one by which it is
  /// configured, so that all it says of them is refused.
  /// @param trouble Why; empty: one of them names it.
  /// @param remedy What to do about it.
  void on_origin(uint32_t upstream, std::string trouble, std::string remedy);

  struct news {
    std::vector<health_finding> begun;
    std::vector<health_finding> ended;
    /// Look this one up, to see whether the directory answers.
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
  /// A stream's connection, as it was seen now and then. One that is open for
  /// a moment only is not there.
  struct stream_state {
    outcome_tally commits;
    std::string listing; ///< Why the one that it owes cannot be had.
    std::string holders; ///< Why those of the signal collection are not known.
    std::string origin;  ///< Why it is not the host that documents name.
    std::string remedy;  ///< Of that.
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

  /// One by which the directory is measured.
  struct known_account {
    atproto::did id;
    bool proved = false;
    bool missed = false; ///< Since anybody was found.
    bool must_ask = false;
    steady_time probe_at{}; ///< Not before.
  };

  std::string directory_url_;
  std::string resolver_url_;
  service_answers directory_;
  service_answers resolver_;
  outcome_tally look_ups_;
  outcome_tally limited_; ///< Who was answered with 429 fails here.
  outcome_tally doubtful_; ///< Unknown or unusable, since anybody was found.
  outcome_tally fetches_;
  outcome_tally hosts_{1, limits::health_hosts_max, true};
  std::string failing_host_;
  outcome_tally commits_;
  outcome_tally refusing_{1}; ///< Upstreams, each by its last commit.
  uint32_t last_refused_ = 0; ///< The upstream of that commit.
  std::vector<known_account> known_; ///< All proved, or one that is not.
  steady_time probe_at_;             ///< Not before, of none of them.
  steady_time rest_until_;           ///< Of the directory, if it is long.
  std::chrono::seconds rest_{0};     ///< How long it is.
  std::map<uint32_t, stream_state> streams_;
  std::vector<health_finding> findings_;
};

} // namespace weir::actors

#pragma once

#include "actors/repo/repo_machine.hpp"
#include "tests/support/repo_builder.hpp"
#include "tests/unit/actors/created_record.hpp"
#include "tests/unit/actors/upstream_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::tests {

using namespace std::chrono_literals;
using namespace weir::actors;
using storage::account_status;
using storage::repo_status;
using storage::update_outcome;

inline constexpr auto pds_origin = "https://pds.test";
inline constexpr auto other_origin = "https://other.test";

/// A store, a clock and an account around one `repo_machine`. It collects what
/// the machine decides. An update becomes durable when the test says so.
class repo_world {
public:
  explicit repo_world(std::vector<std::string> filter = {});

  /// The same for an account of which the test has no signing key.
  repo_world(atproto::did who, storage::identity_row document, wall_time now);

  // -- the account ------------------------------------------------------------

  /// A commit that creates one record.
  bytes make_commit(std::string_view path = {});

  atproto::verified_root root() const;

  storage::identity_row identity() const;

  /// Its identity after a tombstone in the directory.
  storage::identity_row gone() const {
    auto out = identity();
    out.tombstoned = true;
    return out;
  }

  // -- what arrives -----------------------------------------------------------

  /// Gives a frame the next seq of its stream and delivers it. Returns the seq.
  uint64_t take(const bytes& frame, uint32_t upstream = relay_id);

  void take_all(const std::vector<bytes>& frames, uint32_t upstream = relay_id);

  atproto::stamped_frame stamp(const bytes& frame, uint32_t upstream);

  void perform_frames(std::vector<atproto::stamped_frame> frames);

  /// Delivers an #account event, by default from its host.
  void account_event(bool active, std::string_view status = {},
                     uint32_t upstream = pds_id);

  void identity_event(uint32_t upstream = relay_id);

  /// @param question The question that it answers; by default the newest.
  /// @param settled No newer document is expected.
  void learn(const result<storage::identity_row>& fact, bool last = true,
             std::optional<uint64_t> question = {}, bool settled = true);

  /// Delivers tombstones until the account counts as gone.
  void learn_gone() {
    learn(gone());
    pass(settings->gone_grace);
    learn(gone());
  }

  /// Delivers a document whose handle could not be verified.
  void learn_unchecked(const storage::identity_row& fact);

  /// The document names the key of `other`.
  void rotate_key(const test_repo& other);

  /// @param at The position of the stream when the listing was requested.
  void list(atproto::tid rev, account_status account = account_status::active,
            uint32_t upstream = relay_id, const position& at = {});

  /// Delivers the host's answer about the account's state.
  void answer(account_status said, std::string_view pds = pds_origin) {
    tell({who(), std::string{pds}, said});
  }

  /// Delivers the first RepoNotFound.
  void answer_once(std::string_view pds) {
    tell({who(), std::string{pds}, account_status::deleted, true});
  }

  void tell(const account_said& x) {
    perform(machine->on_host_answer(x, now));
  }

  void look(bool unproved = false) {
    perform(machine->on_incomplete({who(), unproved}, now));
  }

  /// The relay's listings do not contain the repo, and its host has it.
  void leave_out() {
    perform(machine->on_incomplete({who(), false, relay_id}, now));
  }

  /// Reports that there was no room for the last question.
  void put_off() {
    const auto& x = questions.back();
    perform(machine->on_host_unasked({who(), x.not_found, x.urgent}, now));
  }

  /// Lets time pass and informs the machine.
  void pass(std::chrono::microseconds x);

  /// Reports that no more frames may wait for a document.
  void no_room() { perform(machine->on_no_room(now)); }

  void sleep() { perform(machine->on_sleep(now)); }
  void awake() { perform(machine->on_awake(now)); }

  /// Loads the content of the store into a new machine.
  void restart();

  /// @param look_up, least What events told before the repo was tracked.
  bool add(std::vector<std::string> kept = {}, bool look_up = false,
           atproto::tid least = {});
  bool remove();
  bool resync();
  /// Grants a fetch, with the document that SUPERVISOR got: by default the
  /// known one, with no newer one expected.
  void begin(uint64_t job);
  void begin(uint64_t job, const identity_answer& said);
  /// SUPERVISOR found no host.
  /// @returns why no fetch begins.
  error no_host(const identity_answer& said);
  void chunk(uint64_t job, std::vector<storage::new_operation> ops);
  void fetched(uint64_t job) { fetched(job, root()); }
  void fetched(uint64_t job, const atproto::verified_root& what);
  void fail_fetch(uint64_t job, error why,
                  std::optional<account_status> account = {},
                  atproto::tid ahead = {});
  void page(size_t frames, bool end);
  void fail_page(error why);
  void set(const repo_settings& x);

  // -- the writer -------------------------------------------------------------

  /// Makes the update in flight durable, or gives it another outcome.
  /// @returns the update.
  storage::repo_update write(update_outcome outcome = update_outcome::done);

  /// Writes until nothing is in flight.
  void settle();

  // -- shortcuts --------------------------------------------------------------

  /// Tracks the repo, with a known identity, everything durable.
  void add_known();

  /// Fetches the repo in its present state.
  void sync();

  /// Starts a fetch, up to the question to the host.
  void start_fetch(uint64_t job);

  /// Starts a fetch, and the host answers with the present state of the repo.
  void run_fetch(uint64_t job);

  /// Clears what was collected.
  void clear();

  size_t count_of(repo_counter x) const;

  bool finished(uint64_t seq) const {
    return std::find(done.begin(), done.end(), seq) != done.end();
  }

  /// Revs of all commits in the log, oldest first.
  std::vector<atproto::tid> logged() const;

  // -- state ------------------------------------------------------------------

  test_repo account;
  upstream_board board;
  now_time now{{}, {}, nullptr, &board};
  std::shared_ptr<repo_settings> settings;
  std::optional<repo_machine> machine;

  std::vector<uint64_t> done;
  std::vector<uint64_t> refused;
  std::vector<repo_counter> counted;
  std::vector<account_question> questions;
  std::vector<heard_rev> heard;
  std::vector<std::string> other_hosts; ///< Hosts that made a commit refused.
  std::vector<repo_wish> wishes;
  std::vector<fetch_order> orders;
  std::vector<ec> job_ends;        ///< `ec::none` = success.
  std::vector<uint64_t> cancelled; ///< Jobs that ended without success.
  std::vector<error> stops;
  size_t loads = 0;
  size_t refreshes = 0;
  uint64_t asked = 0; ///< Number of questions about the identity.
  size_t chunks_done = 0;
  size_t reads = 0; ///< Number of pages that were requested.
  size_t pages = 0; ///< Number of pages that were delivered.
  /// The machine reported that nothing of the repo is left.
  bool removed = false;
  std::optional<steady_time> timer;
  std::optional<journal_update> in_flight;

  // -- what is durable --------------------------------------------------------

  std::optional<storage::repo_row> row;
  std::optional<storage::member_row> member;
  std::shared_ptr<const storage::chain_row> chain;
  std::vector<storage::transaction> log;
  std::map<uint64_t, atproto::stamped_frame> buffer;
  uint64_t page_after = 0;

private:
  void perform(repo_effects x);
  void take_news(const signed_news& x) {
    heard.insert(heard.end(), x.heard.begin(), x.heard.end());
    for (const auto& y : x.refused)
      if (!y.other_host.empty())
        other_hosts.push_back(y.other_host);
  }
  std::shared_ptr<const storage::chain_row>
  chain_after(const storage::repo_update& x) const;
  storage::update_receipt store(const storage::repo_update& x);

  const atproto::did& who() const { return who_ ? *who_ : account.did(); }

  std::optional<atproto::did> who_; ///< Set for an account without a key here.
  std::optional<storage::identity_row> document_; ///< The document of `who_`.
  std::optional<storage::identity_row> known_;    ///< What IDENTITY knows.
  std::map<uint32_t, uint64_t> seqs_;
  uint64_t records_ = 0;
};

} // namespace weir::tests

#pragma once

#include "base/random.hpp"
#include "simnet/population.hpp"
#include "simnet/record_maker.hpp"
#include "simnet/signed_repo.hpp"
#include "simnet/truth.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace weir::simnet {

/// A living network: accounts with keys and repositories, and the streams of
/// their hosts and of the relay. It has all keys and signs everything itself.
///
/// # Ownership and threads
/// Owns accounts and streams. All calls are safe from any thread. Each account
/// has a lock, which is held while the account changes and its events enter the
/// streams. So the streams have its events in order.
class world final : public truth {
public:
  /// One account. Its members change only under `at`.
  struct account {
    account(newcomer x, size_t number);

    const size_t index;
    std::string handle;
    signed_repo repo;
    std::string signing_key; ///< As Multikey text.
    size_t host;
    standing status = standing::active;
    atproto::tid listed_rev;
    std::vector<former_home> former;
    bool relay_takedown = false;
    /// Its changes are not announced.
    bool muted = false;
    size_t first_records = 0; ///< Number of its records at the start.
    std::unique_ptr<random_source> random; ///< For this account's actions.
    mutable std::mutex guard;

    const atproto::did& id() const noexcept { return repo.id(); }

    void set_key(const atproto::private_key& x) {
      repo.set_key(x);
      signing_key = x.public_part().to_multikey();
    }
  };

  /// The right to change one account. Hold only one at a time.
  class locked {
  public:
    explicit locked(account& x) : account_(&x), lock_(x.guard) {}

    account& operator*() const noexcept { return *account_; }

    account* operator->() const noexcept { return account_; }

  private:
    account* account_;
    std::unique_lock<std::mutex> lock_;
  };

  /// Makes all accounts and their initial records. The streams are empty.
  explicit world(network_options options);

  locked at(size_t index) { return locked{get(index)}; }

  /// Adds an account with a profile, and announces it like a new account of a
  /// PDS.
  size_t add_account();

  // -- writing; the caller has locked the account ----------------------------

  /// A rev after all others of this account; the present time if the clock
  /// allows it.
  atproto::tid next_rev(const account& x) const;

  /// Commits, updates the rev that the host claims, and announces.
  void commit(account& x, std::vector<change> changes);

  /// Commits likewise, but applies `alter` to the event before it is sent.
  void commit(account& x, std::vector<change> changes,
              const std::function<void(atproto::commit_event&)>& alter);

  /// A change that creates a new record of this account.
  change new_change(account& x) const;

  /// A handle that no account has.
  std::string fresh_handle(account& x) const;

  void rename(account& x, std::string handle);

  // -- announcing; the caller has locked the account -------------------------
  // The relay passes on what the account's present host sends.

  void announce(const account& x, atproto::commit_event event);
  void announce_sync(const account& x, atproto::tid rev);
  void announce_identity(const account& x, bool with_handle);
  /// @param status Null for active.
  void announce_account(const account& x, size_t host, const char* status);
  /// An #account of the relay itself. @pre the network has a relay
  void announce_relay_account(const account& x, const char* status);

  const record_maker& maker() const noexcept { return *maker_; }

  const network_options& options() const noexcept { return options_; }

  wall_time now() const noexcept { return options_.time->wall_now(); }

  // -- truth -----------------------------------------------------------------

  size_t accounts() const override {
    const std::shared_lock lock{names_};
    return accounts_.size();
  }
  account_view view(size_t index) const override;
  std::optional<size_t> find(std::string_view did) const override {
    const std::shared_lock lock{names_};
    const auto at = by_did_.find(did);
    return at == by_did_.end() ? std::nullopt : std::optional{at->second};
  }
  std::optional<size_t> find_handle(std::string_view handle) const override {
    const std::shared_lock lock{names_};
    const auto at = by_handle_.find(handle);
    return at == by_handle_.end() ? std::nullopt : std::optional{at->second};
  }
  shared_bytes export_car(size_t index) const override;
  bytes prove(size_t index, std::string_view path) const override {
    const auto& x = get(index);
    const std::lock_guard lock{x.guard};
    return x.repo.prove(path);
  }
  void visit_records(size_t index, std::string_view after,
                     const repo_tree::visitor& visit) const override {
    const auto& x = get(index);
    const std::lock_guard lock{x.guard};
    x.repo.tree().visit(after, visit);
  }

private:
  struct text_hash {
    using is_transparent = void;

    size_t operator()(std::string_view x) const noexcept {
      return std::hash<std::string_view>{}(x);
    }
  };

  using text_index
    = std::unordered_map<std::string, size_t, text_hash, std::equal_to<>>;

  account& enter(newcomer x);
  account& get(size_t index) const {
    const std::shared_lock lock{names_};
    return accounts_[index];
  }
  void fill(account& x, uint64_t records);
  void sign_first(account& x);
  void settle(size_t host, const hostile_host_options& options);
  void widen(account& x, size_t collections);

  template <class Event>
  void send(const account& x, size_t host, Event event);

  template <class Event>
  event_log::encoder dated(Event event) const;

  const network_options options_;
  std::vector<std::string> dids_; ///< The accounts of the first population.
  std::unique_ptr<record_maker> maker_;
  std::mutex joining_;              ///< Adds one account at a time.
  mutable std::shared_mutex names_; ///< Guards the next three.
  mutable std::deque<account> accounts_;
  text_index by_did_;
  text_index by_handle_;
};

} // namespace weir::simnet

#pragma once

#include "actors/supervisor/claims_machine.hpp"
#include "actors/supervisor/origin_machine.hpp"
#include "actors/supervisor/supervisor_desk.hpp"
#include "actors/support/gather.hpp"

#include <map>
#include <unordered_map>

namespace weir::actors {

/// A page of a listing, until the whole page was taken.
struct page_progress {
  claims_machine::verdict verdict; ///< What became of its claims.
  std::string cursor;              ///< The cursor of the next page.
  size_t listed = 0;
  /// The lines of claimed accounts that are away.
  std::unordered_map<atproto::did, repo_listed> away{};
  /// Its lines that are not taken yet, and its claims that are not decided.
  std::optional<gather> parts{};
};

/// Has IDENTITY look up the documents of accounts that only a listing or the
/// stream of a PDS names (`claims_machine`), and of some that a PDS lists, to
/// see whether it is followed under its origin (`origin_machine`). Part of the
/// SUPERVISOR.
class claim_checks {
public:
  explicit claim_checks(supervisor_desk& desk)
    : desk_(desk), claims_(desk.env.claims_bytes),
      held_(desk.shared().memory, memory_use::claims) {}

  void on_timer() {
    perform(claims_.on_timer(desk_.now()));
    perform(origins_.on_timer(desk_.now()));
  }

  /// The page is not done before its claims are decided.
  void on_page(const std::vector<repo_listed>& unknown,
               const std::shared_ptr<page_progress>& page);

  /// Has the lines taken by their ROUTER; then a part of the page is done. When
  /// the ROUTER cannot answer, these repos come again with the next listing.
  void give(const router_actor& to, repo_listing lines,
            const std::shared_ptr<page_progress>& page);

  /// A stream names an account.
  /// @param returned It is active again, so no ROUTER waits for the answer.
  void on_named(const stream_claim& x, bool returned);

  void on_identity(const identity_answer& x);

  /// A listing of all repos of an upstream begins.
  void on_listing(uint32_t upstream) { origins_.on_begin(upstream); }

  /// A page of such a listing came.
  void look_at_origin(const listing_page& x);

private:
  void perform(const claims_machine::effects& x);
  void perform_streams(const claims_machine::effects& x);
  void perform(const origin_machine::effects& x);
  void decide(const claims_machine::verdict& x);
  void look_up(const atproto::did& repo, bool anew);
  void take_up(uint32_t upstream, const atproto::did& repo);

  supervisor_desk& desk_;
  claims_machine claims_;
  byte_claim held_;
  origin_machine origins_;
  /// The DIDs that streams named and whose documents are looked up. True: the
  /// account is active again.
  std::map<std::pair<uint32_t, atproto::did>, bool> named_;
  /// Pages with claims that are not decided yet.
  std::map<listing_id, std::shared_ptr<page_progress>> claimed_;
};

} // namespace weir::actors

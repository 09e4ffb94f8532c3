#pragma once

#include "apps/weir/web_client.hpp"
#include "atproto/repo_walk.hpp"
#include "atproto/signature.hpp"
#include "storage/disk/file_spool.hpp"

#include <functional>
#include <optional>
#include <string>

namespace weir::apps {

enum class fetch_outcome : uint8_t {
  good,
  absent,   ///< The host does not have the repository.
  inactive, ///< The host does not serve it: its account is not active.
  unproved, ///< It came, but hash, tree or signature is wrong.
  failed    ///< It did not come.
};

/// One repository as a host exports it, completely proved.
///
/// # Ownership and threads
/// One thread. Call `run` once.
class repo_fetch {
public:
  repo_fetch(const atproto::did& repo, atproto::public_key key);

  /// Fetches the repository and walks all of it.
  void run(web_client& web, const std::string& origin);

  fetch_outcome outcome() const noexcept { return outcome_; }

  const std::string& reason() const noexcept { return reason_; }

  /// @pre `outcome() == fetch_outcome::good`
  const atproto::verified_root& root() const { return *root_; }

  /// Visits all records in path order, until `each` fails. @pre as for `root`
  result<void>
  visit(size_t step,
        const std::function<result<void>(const atproto::walked_record&)>& each);

private:
  class receiver;

  void give_up(fetch_outcome why, std::string reason) {
    outcome_ = why;
    reason_ = std::move(reason);
  }
  void prove();

  const atproto::did repo_;
  const atproto::public_key key_;
  storage::file_spool store_;
  storage::file_spool index_;
  atproto::repo_walk walk_;
  std::optional<atproto::verified_root> root_;
  fetch_outcome outcome_ = fetch_outcome::failed;
  std::string reason_;
};

} // namespace weir::apps

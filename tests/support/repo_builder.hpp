#pragma once

#include "atproto/commit.hpp"
#include "atproto/frame.hpp"
#include "atproto/mst.hpp"
#include "atproto/verify.hpp"
#include "base/clock.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// Repositories of tests: signed and whole, made in memory. Everything a frame
// or CAR is made of can be changed before it is encoded.

namespace weir::tests {

/// A block and its CID.
using named_block = std::pair<atproto::cid, bytes>;

/// A record `{"$type": "app.test.note", "text": text}`.
bytes make_record(std::string_view text);

/// A CAR of `blocks` in the order given.
bytes make_car(const atproto::cid& root,
               const std::vector<named_block>& blocks);

/// A frame of a kind that nobody knows yet.
bytes unknown_frame(int64_t seq);

struct owned_op {
  atproto::op_action action = atproto::op_action::create;
  std::string path;
  atproto::cid id;
  atproto::cid prev;
};

/// The parts of a #commit frame.
struct commit_draft {
  int64_t seq = 1;
  atproto::commit_object object;
  std::optional<atproto::tid> since;
  atproto::cid prev_data;
  std::vector<owned_op> ops;
  std::vector<named_block> blocks; ///< All but the commit block.
  bool too_big = false;

  /// What a key that signs makes of `object`.
  bytes sign(const atproto::private_key& key) const;

  /// The frame around a signed commit block.
  bytes encode(bytes_view commit_block) const;
};

/// Decodes and verifies a #commit frame; anything else is `bad_shape`.
atproto::verified<atproto::verified_commit>
verify_frame(const bytes& frame, const atproto::public_key& key, wall_time now);

/// The field `time` of a frame that was made then.
std::string frame_time_of(wall_time x);

/// A repository of one account. Changes wait until `commit` signs them.
class test_repo {
public:
  /// @param time Dates each commit, as a PDS does, and outlives the repository.
  ///        Without it the first one is of 2026-01-01 and each of a second after
  ///        the last: the same bytes whenever a test runs.
  explicit test_repo(uint64_t seed = 1,
                     atproto::curve which = atproto::curve::k256,
                     const clock* time = nullptr);

  const atproto::did& did() const noexcept { return did_; }

  const atproto::private_key& key() const noexcept { return key_; }

  /// A time at which none of the revs is in the future.
  wall_time now() const noexcept { return rev_.time(); }

  const atproto::tid& rev() const noexcept { return rev_; }

  const atproto::cid& data() const noexcept { return data_; }

  const std::map<std::string, atproto::cid, std::less<>>&
  records() const noexcept {
    return records_;
  }

  /// Creates or updates.
  void put(std::string_view path, bytes record);

  /// Same, when only a CID of the record is known.
  void put(std::string_view path, const atproto::cid& id);

  void remove(std::string_view path);

  /// Takes the waiting changes into the tree; the draft holds new nodes, new
  /// records, and what an inversion of the ops touches.
  commit_draft draft();

  /// `draft`, signed and encoded.
  bytes commit();

  /// The signed commit block over the current tree.
  bytes commit_block() const;

  /// Every node and record block of the current tree.
  std::vector<named_block> blocks() const;

  /// The repository as `getRepo` gives it: commit, nodes, records.
  bytes export_car() const;

  /// A #sync frame for the current state.
  bytes sync_frame(int64_t seq) const;

private:
  atproto::commit_object object() const;
  atproto::tid next_rev() const;
  const bytes_view* find_node(const atproto::cid& id);

  atproto::did did_;
  atproto::private_key key_;
  const clock* time_;
  atproto::tid rev_;
  atproto::cid data_;
  bool committed_ = false;
  int64_t seq_ = 0;
  std::map<std::string, atproto::cid, std::less<>> records_;
  std::vector<owned_op> waiting_;
  std::unordered_map<atproto::cid, bytes> bodies_; ///< Of records.
  std::unordered_map<atproto::cid, bytes> nodes_;
  bytes_view found_;
};

} // namespace weir::tests

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

// Repositories for tests: signed, complete, and made in memory. Every part of a
// frame or CAR can be changed before it is encoded.

namespace weir::tests {

/// A block and its CID.
using named_block = std::pair<atproto::cid, bytes>;

/// A record `{"$type": "app.test.note", "text": text}`.
bytes make_record(std::string_view text);

/// A CAR with `blocks` in the given order.
bytes make_car(const atproto::cid& root,
               const std::vector<named_block>& blocks);

/// A frame of an event type that the protocol does not define.
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
  std::vector<named_block> blocks; ///< All blocks except the commit block.
  bool too_big = false;

  /// Signs `object` with `key` and returns the commit block.
  bytes sign(const atproto::private_key& key) const;

  /// The frame around a signed commit block.
  bytes encode(bytes_view commit_block) const;
};

/// Decodes and verifies a #commit frame; any other frame is `bad_shape`.
atproto::verified<atproto::verified_commit>
verify_frame(const bytes& frame, const atproto::public_key& key, wall_time now);

/// The field `time` of a frame that was made at `x`.
std::string frame_time_of(wall_time x);

/// A repository of one account. Changes wait until `commit` signs them.
class test_repo {
public:
  /// @param time Its time is the time of each commit, as at a PDS; it outlives
  /// the repository. Without a clock the first commit is made on 2026-01-01 and
  /// each later one a second after the one before, so that the bytes are the
  /// same in every run.
  explicit test_repo(uint64_t seed = 1,
                     atproto::curve which = atproto::curve::k256,
                     const clock* time = nullptr);

  const atproto::did& did() const noexcept { return did_; }

  const atproto::private_key& key() const noexcept { return key_; }

  /// A time at which no rev of the repository is in the future.
  wall_time now() const noexcept { return rev_.time(); }

  const atproto::tid& rev() const noexcept { return rev_; }

  const atproto::cid& data() const noexcept { return data_; }

  const std::map<std::string, atproto::cid, std::less<>>&
  records() const noexcept {
    return records_;
  }

  /// Creates or updates a record.
  void put(std::string_view path, bytes record);

  /// The same for a record of which only the CID is known.
  void put(std::string_view path, const atproto::cid& id);

  void remove(std::string_view path);

  /// Takes the waiting changes into the tree. The draft contains new nodes, new
  /// records, and the nodes that an inversion of the ops reads.
  commit_draft draft();

  /// Makes, signs and encodes a `draft`.
  bytes commit();

  /// The signed commit block over the current tree.
  bytes commit_block() const;

  /// Every node and record block of the current tree.
  std::vector<named_block> blocks() const;

  /// The repository in the form of a getRepo answer: commit, nodes, records.
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
  std::unordered_map<atproto::cid, bytes> bodies_; ///< Record blocks.
  std::unordered_map<atproto::cid, bytes> nodes_;
  bytes_view found_;
};

} // namespace weir::tests

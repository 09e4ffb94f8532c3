#include "atproto/repo_walk.hpp"

#include "atproto/block_index.hpp"
#include "atproto/car.hpp"
#include "atproto/mst_node.hpp"
#include "atproto/record.hpp"
#include "atproto/sha256.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weir::atproto {

namespace {

/// Offset of the digest in a blessed CID.
constexpr size_t digest_at = 4;

/// A node on the path from the root to the current place.
struct open_node {
  bytes block;
  mst::node_reader reader;
  bytes_view next; ///< The subtree to enter before the next entry; or empty.
  int depth = 0;
};

} // namespace

struct repo_walk::impl {
  impl(did x, spool& y, spool& z, const walk_limits& b)
    : expected(std::move(x)), store(y), bounds(b),
      index(z, b.index_entries_max, b.index_run_entries),
      car([this](const cid& id, bytes_view block, uint64_t offset) {
        return on_block(id, block, offset);
      }) {}

  result<void> on_block(const cid& id, bytes_view block, uint64_t offset) {
    if (root_block.empty() && id == car.roots().front())
      root_block.assign(block.begin(), block.end());
    return index.add(id.hash_data(), {offset, block.size()});
  }

  result<void> feed(bytes_view chunk) {
    if (chunk.size() > bounds.car_bytes_max - fed)
      return fail(ec::limit_reached, "repository export too large");
    fed += chunk.size();
    if (auto stored = store.append(chunk); !stored)
      return stored;
    if (auto read = car.feed(chunk); !read)
      return read;
    if (car.blocks_read() > bounds.car_blocks_max)
      return fail(ec::limit_reached, "too many blocks in a repository export");
    return {};
  }

  result<bool> step(size_t records_max,
                    const std::function<void(const walked_record&)>& visit) {
    if (!data.defined())
      return fail(ec::invalid_argument, "the export is not verified yet");
    auto ready = index.prepare(bounds.index_run_entries);
    if (!ready || !*ready)
      return ready;
    if (!entered)
      if (auto root = enter_root(); !root)
        return root.error();
    while (open > 0) {
      auto& top = path[open - 1];
      if (!top.next.empty()) {
        const auto below = std::exchange(top.next, {});
        if (auto done = enter(below, top.depth - 1); !done)
          return done.error();
      } else if (records_max == 0) {
        return false;
      } else if (top.reader.next()) {
        if (auto taken = take_entry(top, visit); !taken)
          return taken.error();
        top.next = top.reader.right();
        --records_max;
      } else {
        --open;
      }
    }
    return true;
  }

  /// Reads the block with the binary CID `id`, which is blessed. A CAR has the
  /// CID directly before the data, so one read returns both. Bytes from a disk
  /// are hashed again.
  result<bytes_view> read_block(bytes_view id, const char* what) {
    bytes_view section;
    const auto fits = [this, &id, &section](block_place at) -> result<bool> {
      auto read = store.read(at.offset - id.size(), at.size + id.size());
      if (!read)
        return read.error();
      section = *read;
      return std::memcmp(section.data(), id.data(), id.size()) == 0;
    };
    const auto found = index.find(id.data() + digest_at, std::cref(fits));
    if (!found)
      return found.error();
    if (!*found)
      return fail(ec::verification_failed, what);
    const auto block = section.subspan(id.size());
    if (store.on_disk()
        && !std::ranges::equal(sha256(block), id.subspan(digest_at)))
      return fail(ec::storage_failure, "a block in a spool file has changed");
    return block;
  }

  result<void> check_present(bytes_view id) {
    const auto block = read_block(id, "MST node is absent");
    return block ? result<void>{} : block.error();
  }

  result<void> enter(bytes_view id, int depth) {
    if (++visits > car.blocks_read())
      return fail(ec::verification_failed, "the MST repeats its nodes");
    if (depth < 0)
      return fail(ec::malformed, "MST node below depth 0");
    const auto block = read_block(id, "MST node is absent");
    if (!block)
      return block.error();
    if (open == path.size())
      path.emplace_back();
    auto& top = path[open++];
    top.block.assign(block->begin(), block->end());
    if (auto opened = top.reader.open(top.block); !opened)
      return opened;
    if (top.reader.size() == 0 && top.reader.left().empty())
      return fail(ec::malformed, "empty MST node");
    top.next = top.reader.left();
    top.depth = depth;
    return {};
  }

  /// Only the root may be an empty tree; it must have entries otherwise, and it
  /// sets the depth.
  result<void> enter_root() {
    entered = true;
    if (data == mst::empty_root())
      return check_present(data.view());
    if (auto done = enter(data.view(), 0); !done)
      return done;
    auto& root = path.front();
    if (!root.reader.next())
      return fail(ec::malformed, "the MST root only points down");
    root.depth = mst::key_depth(root.reader.key());
    if (!mst::is_depth_allowed(root.depth))
      return fail(ec::limit_reached, // unreachable: no such key
                  "MST too deep");
    return root.reader.open(root.block);
  }

  result<void> check_key(const open_node& top) {
    const auto key = top.reader.key();
    if (key <= last_key)
      return fail(ec::malformed, "keys do not grow over the MST");
    if (mst::key_depth(key) != top.depth)
      return fail(ec::malformed, "key at the wrong depth of the MST");
    if (records + skipped == bounds.records_max)
      return fail(ec::limit_reached, "too many records in a repository");
    last_key = key;
    return {};
  }

  result<void>
  take_entry(const open_node& top,
             const std::function<void(const walked_record&)>& visit) {
    if (auto checked = check_key(top); !checked)
      return checked;
    if (!valid_repo_path(last_key)) {
      ++skipped;
      return {};
    }
    walked_record out{last_key, mst::to_cid(top.reader.value()), {}, true};
    if (out.id.is_dag_cbor() || out.id.is_raw()) {
      const auto block
        = read_block(top.reader.value(), "record block is absent");
      if (!block)
        return block.error();
      record_bytes += block->size();
      if (record_bytes > record_bytes_allowed(fed))
        return fail(ec::limit_reached, "records repeated too often");
      out.undecodable = !out.id.is_dag_cbor() || !is_record(*block);
      if (!out.undecodable)
        out.block = *block;
    }
    ++records;
    visit(out);
    return {};
  }

  const did expected;
  spool& store;
  const walk_limits bounds;
  block_index index;
  car_reader car;
  uint64_t fed = 0;
  bytes root_block;
  cid data; ///< Root of the tree; set by a successful `finish`.
  error failed;

  std::vector<open_node> path; ///< The first `open` of them are in use.
  size_t open = 0;
  bool entered = false;
  std::string last_key;
  uint64_t visits = 0;
  uint64_t records = 0;
  uint64_t skipped = 0;
  uint64_t record_bytes = 0;
};

repo_walk::repo_walk(did expected, spool& store, spool& index_overflow,
                     const walk_limits& bounds)
  : impl_(std::make_unique<impl>(std::move(expected), store, index_overflow,
                                 bounds)) {}

repo_walk::~repo_walk() = default;

result<void> repo_walk::feed(bytes_view chunk) {
  auto& self = *impl_;
  if (self.failed.code != ec::none)
    return self.failed;
  auto done = self.feed(chunk);
  if (!done)
    self.failed = done.error();
  return done;
}

verified<verified_root> repo_walk::finish(const public_key& key,
                                          wall_time now) {
  auto& self = *impl_;
  if (self.failed.code == ec::none)
    if (auto ended = self.car.finish(); !ended)
      self.failed = ended.error();
  if (self.failed.code == ec::none && self.root_block.empty())
    self.failed = fail(ec::malformed, "the CAR lacks its commit block");
  if (self.failed.code != ec::none)
    return refusal{verdict::bad_shape, self.failed.context};
  auto root = verify_root(self.root_block, self.car.roots().front(),
                          self.expected, key, now);
  if (root)
    self.data = root->data;
  return root;
}

result<bool>
repo_walk::step(size_t records_max,
                const std::function<void(const walked_record&)>& visit) {
  auto& self = *impl_;
  if (self.failed.code != ec::none)
    return self.failed;
  auto done = self.step(records_max, visit);
  if (!done && done.error().code != ec::invalid_argument)
    self.failed = done.error();
  return done;
}

uint64_t repo_walk::skipped() const noexcept {
  return impl_->skipped;
}

uint64_t repo_walk::bytes_fed() const noexcept {
  return impl_->fed;
}

void repo_walk::rewind() {
  auto& self = *impl_;
  self.open = 0;
  self.entered = false;
  self.last_key.clear();
  self.visits = 0;
  self.records = 0;
  self.skipped = 0;
  self.record_bytes = 0;
}

} // namespace weir::atproto

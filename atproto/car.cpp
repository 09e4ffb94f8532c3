#include "atproto/car.hpp"

#include "atproto/cbor_walk.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weir::atproto {

namespace {

constexpr size_t varint_bytes_max = 9;

enum class varint : uint8_t { ok, cut_off, malformed };

/// Takes a varint in its shortest form off the front of `x`.
varint take_varint(bytes_view& x, uint64_t& value) noexcept {
  value = 0;
  for (size_t i = 0; i < varint_bytes_max; ++i) {
    if (i == x.size())
      return varint::cut_off;
    const auto byte = x[i];
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      if (byte == 0 && i != 0)
        return varint::malformed;
      x = x.subspan(i + 1);
      return varint::ok;
    }
  }
  return varint::malformed;
}

error cut_off() {
  return fail(ec::malformed, "CAR cut off");
}

/// Whether `x` begins as a map does in CBOR, as every header of a CAR.
bool may_be_header(bytes_view x) noexcept {
  return x.empty() || (x.front() & 0xe0) == 0xa0;
}

/// Takes the length of the header or of a block section off the front of `x`.
/// Returns 0 when `x` ends inside the length.
result<size_t> take_section_size(bytes_view& x, size_t size_max) {
  uint64_t size = 0;
  switch (take_varint(x, size)) {
    case varint::cut_off:
      return size_t{0};
    case varint::malformed:
      return fail(ec::malformed, "malformed length in a CAR");
    case varint::ok:
      break;
  }
  if (size == 0)
    return fail(ec::malformed, "empty section in a CAR");
  if (size > size_max)
    return fail(ec::limit_reached, "CAR section too large");
  return static_cast<size_t>(size);
}

result<std::vector<cid>> read_roots(cbor::reader& in) {
  const auto size = in.read_array();
  if (!size)
    return size.error();
  if (*size > limits::car_roots_max)
    return fail(ec::limit_reached, "too many CAR roots");
  std::vector<cid> out;
  for (size_t i = 0; i < *size; ++i) {
    auto root = in.read_link();
    if (!root)
      return root.error();
    out.push_back(std::move(*root));
  }
  if (out.empty())
    return fail(ec::malformed, "CAR without roots");
  return out;
}

/// Decodes `{roots: [cid], version: 1}`. Other keys are ignored.
result<std::vector<cid>> decode_header(bytes_view x) {
  cbor::rules strict;
  strict.depth_max = limits::frame_depth_max;
  if (auto checked = cbor::validate(x, strict); !checked)
    return checked.error();
  cbor::reader in{x};
  const auto size = in.read_map();
  if (!size)
    return size.error();
  std::vector<cid> roots;
  int64_t version = 0;
  for (size_t i = 0; i < *size; ++i) {
    const auto key = in.read_text();
    if (!key)
      return key.error();
    if (*key == "roots") {
      auto read = read_roots(in);
      if (!read)
        return read.error();
      roots = std::move(*read);
    } else if (*key == "version") {
      const auto read = in.read_int();
      if (!read)
        return read.error();
      version = *read;
    } else if (auto skipped = in.skip(); !skipped) {
      return skipped.error();
    }
  }
  if (version != 1)
    return fail(ec::malformed, "not a CAR of version 1");
  if (roots.empty())
    return fail(ec::malformed, "CAR without roots");
  return roots;
}

result<car_block> split_section(bytes_view section) {
  size_t used = 0;
  auto id = cid::from_prefix(section, used);
  if (!id)
    return id.error();
  return car_block{std::move(*id), section.subspan(used)};
}

/// True for the CIDs whose hash can be checked. No block under another kind of
/// CID is ever used.
bool is_sha256(const cid& x) noexcept {
  return x.is_dag_cbor() || x.is_raw();
}

result<void> check_hash(const car_block& x) {
  const auto hash = sha256(x.data);
  if (std::memcmp(hash.data(), x.id.hash_data(), hash.size()) != 0)
    return fail(ec::verification_failed,
                "block does not hash to its CID: " + x.id.to_text());
  return {};
}

uint64_t first_word(const cid& x) noexcept {
  uint64_t out = 0;
  std::memcpy(&out, x.hash_data(), sizeof(out));
  return out;
}

} // namespace

// -- car_slice ----------------------------------------------------------------

result<car_slice> car_slice::parse(bytes_view x, size_t blocks_max) {
  const auto header = take_section_size(x, limits::car_header_bytes_max);
  if (!header)
    return header.error();
  if (*header == 0 || *header > x.size())
    return cut_off();
  auto roots = decode_header(x.first(*header));
  if (!roots)
    return roots.error();
  x = x.subspan(*header);
  car_slice out;
  out.roots_ = std::move(*roots);
  // Blocks of a slice have about 400 bytes on average.
  constexpr size_t block_bytes_guess = 256;
  out.blocks_.reserve(std::min(x.size() / block_bytes_guess + 1, blocks_max));
  while (!x.empty()) {
    const auto size = take_section_size(x, limits::car_section_bytes_max);
    if (!size)
      return size.error();
    if (*size == 0 || *size > x.size())
      return cut_off();
    if (out.blocks_.size() == blocks_max)
      return fail(ec::limit_reached, "too many blocks in a CAR");
    auto block = split_section(x.first(*size));
    if (!block)
      return block.error();
    out.blocks_.push_back(std::move(*block));
    x = x.subspan(*size);
  }
  if (auto indexed = out.index(); !indexed)
    return indexed.error();
  return out;
}

/// Open addressing with a quarter of the slots filled. Random digests make no
/// run of filled slots near the limit. A sender who chooses digests to make one
/// is refused, instead of costing quadratic time.
result<void> car_slice::index() {
  table_.assign(std::bit_ceil(blocks_.size() * 4 + 1), 0);
  const auto mask = table_.size() - 1;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const auto& id = blocks_[i].id;
    if (!is_sha256(id))
      continue;
    auto slot = first_word(id) & mask;
    size_t probes = 0;
    while (table_[slot] != 0 && blocks_[table_[slot] - 1].id != id) {
      if (++probes == limits::car_probes_max)
        return fail(ec::malformed, "contrived CIDs in a CAR");
      slot = (slot + 1) & mask;
    }
    if (table_[slot] == 0)
      table_[slot] = static_cast<uint32_t>(i + 1);
  }
  return {};
}

const car_block* car_slice::find(const cid& id) const noexcept {
  if (!is_sha256(id) || table_.empty())
    return nullptr;
  const auto mask = table_.size() - 1;
  for (auto slot = first_word(id) & mask; table_[slot] != 0;
       slot = (slot + 1) & mask)
    if (const auto& x = blocks_[table_[slot] - 1]; x.id == id)
      return &x;
  return nullptr;
}

result<void> car_slice::check_hashes() const {
  for (const auto& x : blocks_)
    if (is_sha256(x.id))
      if (auto checked = check_hash(x); !checked)
        return checked;
  return {};
}

// -- car_reader ---------------------------------------------------------------

car_reader::car_reader(block_handler on_block)
  : on_block_(std::move(on_block)) {}

result<void> car_reader::feed(bytes_view chunk) {
  if (failed_.code != ec::none)
    return failed_;
  while (!chunk.empty())
    if (auto stepped = step(chunk); !stepped) {
      failed_ = stepped.error();
      return failed_;
    }
  return {};
}

/// Takes one section off `input`, in place when all of it is there. Otherwise
/// it takes the part of a section that began in an earlier chunk or ends in a
/// later one.
result<void> car_reader::step(bytes_view& input) {
  if (pending_.empty()) {
    auto rest = input;
    const auto size = section_size(rest);
    if (!size)
      return size.error();
    if (*size != 0 && *size <= rest.size()) {
      consumed_ += input.size() - rest.size() + *size;
      input = rest.subspan(*size);
      return take_section(rest.first(*size));
    }
  }
  const auto lacking = lacking_bytes();
  if (!lacking)
    return lacking.error();
  const auto taken = input.first(std::min(*lacking, input.size()));
  pending_.insert(pending_.end(), taken.begin(), taken.end());
  input = input.subspan(taken.size());
  consumed_ += taken.size();
  return finish_pending();
}

/// Takes the length of the next section off `x`; 0 when `x` ends inside it. A
/// page of HTML shows here that it is no CAR, however short it is.
result<size_t> car_reader::section_size(bytes_view& x) const {
  if (header_done_)
    return take_section_size(x, limits::car_section_bytes_max);
  auto out = take_section_size(x, limits::car_header_bytes_max);
  if (out && *out != 0 && !may_be_header(x))
    return fail(ec::malformed, "not a CAR");
  return out;
}

/// How many bytes `pending_` lacks to be a whole section; 1 while its length is
/// unknown.
result<size_t> car_reader::lacking_bytes() const {
  bytes_view rest{pending_};
  const auto size = section_size(rest);
  if (!size)
    return size.error();
  return *size == 0 ? 1 : *size - rest.size();
}

result<void> car_reader::finish_pending() {
  const auto lacking = lacking_bytes();
  if (!lacking)
    return lacking.error();
  if (*lacking != 0)
    return {};
  bytes_view section{pending_};
  uint64_t size = 0;
  take_varint(section, size);
  auto done = take_section(section);
  pending_.clear();
  return done;
}

result<void> car_reader::take_section(bytes_view section) {
  return header_done_ ? take_block(section) : take_header(section);
}

result<void> car_reader::take_header(bytes_view section) {
  auto roots = decode_header(section);
  if (!roots)
    return roots.error();
  roots_ = std::move(*roots);
  header_done_ = true;
  return {};
}

result<void> car_reader::take_block(bytes_view section) {
  const auto block = split_section(section);
  if (!block)
    return block.error();
  ++blocks_;
  if (!is_sha256(block->id))
    return {};
  if (auto checked = check_hash(*block); !checked)
    return checked;
  return on_block_(block->id, block->data, consumed_ - block->data.size());
}

result<void> car_reader::finish() const {
  if (failed_.code != ec::none)
    return failed_;
  if (!header_done_ || !pending_.empty())
    return cut_off();
  return {};
}

// -- car_writer ---------------------------------------------------------------

namespace {

void put_varint(bytes& out, uint64_t x) {
  for (; x >= 0x80; x >>= 7)
    out.push_back(static_cast<uint8_t>(x | 0x80));
  out.push_back(static_cast<uint8_t>(x));
}

} // namespace

car_writer::car_writer(std::span<const cid> roots) {
  cbor::writer header;
  header.begin_map(2).put_text("roots").begin_array(roots.size());
  for (const auto& x : roots)
    header.put_link(x);
  header.put_text("version").put_int(1);
  put_varint(out_, header.data().size());
  out_.insert(out_.end(), header.data().begin(), header.data().end());
}

void car_writer::add(const cid& id, bytes_view data) {
  const auto name = id.view();
  put_varint(out_, name.size() + data.size());
  out_.insert(out_.end(), name.begin(), name.end());
  out_.insert(out_.end(), data.begin(), data.end());
}

} // namespace weir::atproto

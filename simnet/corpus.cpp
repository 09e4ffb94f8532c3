#include "simnet/corpus.hpp"

#include "atproto/car.hpp"
#include "atproto/commit.hpp"
#include "atproto/frame.hpp"
#include "atproto/mst_node.hpp"
#include "simnet/mapped_file.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weir::simnet {

namespace {

atproto::commit_event decode_commit_frame(const shared_bytes& frame) {
  return std::get<atproto::commit_event>(
    atproto::decode_frame(frame.view()).value());
}

/// The sections of a CAR without its header.
bytes_view sections(bytes_view car) {
  size_t header = 0;
  size_t at = 0;
  for (unsigned shift = 0; at < car.size(); shift += 7) {
    header |= size_t{car[at] & 0x7fu} << shift;
    if (car[at++] < 0x80)
      break;
  }
  return car.subspan(std::min(at + header, car.size()));
}

using block_map = std::unordered_map<atproto::cid, bytes_view>;

void add_blocks(block_map& out, bytes_view car) {
  const auto slice = atproto::car_slice::parse(car, SIZE_MAX);
  if (slice)
    for (const auto& x : slice->blocks())
      out.emplace(x.id, x.data);
}

/// Collects all leaves below a node in order.
void walk(const block_map& blocks, const atproto::cid& id,
          std::map<std::string, atproto::cid>& out) {
  const auto at = blocks.find(id);
  atproto::mst::node_reader node;
  if (at == blocks.end() || !node.open(at->second))
    return;
  walk(blocks, atproto::mst::to_cid(node.left()), out);
  while (node.next()) {
    out.emplace(node.key(), atproto::mst::to_cid(node.value()));
    walk(blocks, atproto::mst::to_cid(node.right()), out);
  }
}

} // namespace

result<std::unique_ptr<corpus>> corpus::open(const std::string& path,
                                             bool relay) {
  auto file = map_file(path);
  if (!file)
    return file.error();
  auto index = read_corpus_index(file->view());
  if (!index)
    return index.error();
  return std::unique_ptr<corpus>{
    new corpus{std::move(*file), std::move(*index), relay}};
}

corpus::corpus(shared_bytes file, corpus_index index, bool relay)
  : truth(index.hosts, relay, {SIZE_MAX, SIZE_MAX}), file_(std::move(file)),
    index_(std::move(index)), commits_(index_.accounts.size()) {
  for (size_t i = 0; i < index_.accounts.size(); ++i) {
    by_did_[index_.accounts[i].id.str()] = i;
    by_handle_[index_.accounts[i].handle] = i;
  }
}

size_t corpus::play(size_t n) {
  const std::lock_guard lock{guard_};
  const auto end = std::min(played_ + n, index_.frames.size());
  const auto count = end - played_;
  for (; played_ < end; ++played_) {
    const auto& x = index_.frames[played_];
    if (x.commit)
      commits_[x.account].push_back(played_);
    const auto host = index_.accounts[x.account].host;
    host_log(host).append(x.account, x.seq, frame(played_));
    if (auto* log = relay_log())
      log->append(x.account, x.seq, frame(played_));
  }
  return count;
}

account_view corpus::view(size_t index) const {
  const auto& x = index_.accounts[index];
  account_view out;
  out.index = index;
  out.id = x.id;
  out.handle = x.handle;
  out.signing_key = x.signing_key;
  out.host = x.host;
  out.rev = x.rev;
  out.head = x.head;
  out.data = x.data;
  auto records = static_cast<int64_t>(x.records);
  const auto commits = commits_of(index);
  for (const auto number : commits)
    records += index_.frames[number].records;
  if (!commits.empty()) {
    const auto last = frame(commits.back());
    const auto event = decode_commit_frame(last);
    const auto slice = atproto::car_slice::parse(event.blocks).value();
    out.rev = event.rev;
    out.head = event.commit;
    out.data
      = atproto::decode_commit(slice.find(event.commit)->data).value().data;
  }
  out.listed_rev = out.rev;
  out.records = static_cast<size_t>(records);
  return out;
}

shared_bytes corpus::export_car(size_t index) const {
  const auto& x = index_.accounts[index];
  const auto stored = file_.slice(x.car_offset, x.car_size);
  const auto commits = commits_of(index);
  if (commits.empty())
    return stored;
  const auto head = decode_commit_frame(frame(commits.back())).commit;
  auto out = atproto::car_writer{{&head, 1}}.take();
  const auto add = [&out](bytes_view car) {
    const auto rest = sections(car);
    out.insert(out.end(), rest.begin(), rest.end());
  };
  add(stored.view());
  for (const auto number : commits)
    add(decode_commit_frame(frame(number)).blocks);
  return shared_bytes{std::move(out)};
}

bytes corpus::prove(size_t, std::string_view) const {
  return {};
}

void corpus::visit_records(size_t index, std::string_view after,
                           const repo_tree::visitor& visit) const {
  const auto car = export_car(index);
  block_map blocks;
  add_blocks(blocks, car.view());
  const auto slice = atproto::car_slice::parse(car.view(), SIZE_MAX).value();
  const auto root = atproto::decode_commit(blocks.at(slice.roots().front()));
  std::map<std::string, atproto::cid> leaves;
  walk(blocks, root.value().data, leaves);
  for (auto at = leaves.upper_bound(std::string{after}); at != leaves.end();
       ++at) {
    const auto block = blocks.at(at->second);
    if (!visit(at->first, {at->second, bytes(block.begin(), block.end())}))
      return;
  }
}

shared_bytes corpus::frame(size_t number) const {
  const auto& x = index_.frames[number];
  return file_.slice(x.offset, x.size);
}

} // namespace weir::simnet

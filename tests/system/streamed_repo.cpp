#include "tests/system/streamed_repo.hpp"

#include "atproto/car.hpp"
#include "tests/support/hostile_tree.hpp"

namespace weir::tests {

namespace {

using atproto::cid;

constexpr size_t text_bytes = 1'000;
constexpr size_t sent_at_once = 65'536;

/// All numbers have the same count of digits.
std::string digits(size_t i) {
  return std::to_string(1'000'000'000 + i);
}

named_block record_block(size_t i) {
  auto text = digits(i);
  text.resize(text_bytes, static_cast<char>('a' + i % 26));
  auto data = make_record(text);
  const auto id = cid::of_dag_cbor(data);
  return {id, std::move(data)};
}

/// A section of the CAR without the header.
bytes section(const named_block& x) {
  const auto empty = atproto::car_writer{{}}.take().size();
  atproto::car_writer out{{}};
  out.add(x.first, x.second);
  auto all = out.take();
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(empty));
  return all;
}

} // namespace

streamed_repo streamed_repo::of_bytes(size_t car_bytes) {
  const auto records = car_bytes / section(record_block(0)).size();
  return {records, records};
}

streamed_repo streamed_repo::of_records(size_t count) {
  return {count, 1};
}

streamed_repo::streamed_repo(size_t records, size_t contents)
  : records_(records), contents_(contents),
    body_bytes_(contents * section(record_block(0)).size()) {
  account_.put("app.test.note/first", make_record("first"));
  account_.commit();
  leaf_map leaves;
  cid content;
  for (size_t i = 0; i < records_; ++i) {
    if (i < contents_)
      content = record_block(i).first;
    leaves.emplace_hint(leaves.end(), "app.test.note/" + digits(i), content);
  }
  std::vector<named_block> nodes;
  const auto root = sketch_of(leaves)->encode(nodes);
  const auto commit = encode_signed_commit(
    {account_.did(), account_.rev(), root, {}, {}}, account_.key());
  const auto id = cid::of_dag_cbor(commit);
  const std::vector<cid> roots{id};
  atproto::car_writer out{roots};
  out.add(id, commit);
  for (const auto& [node, data] : nodes)
    out.add(node, data);
  front_ = out.take();
}

hostile_host::script streamed_repo::script() const {
  return [this](raw_peer& peer, const std::string&) {
    auto going = peer.send("HTTP/1.1 200 OK\r\nContent-Length: "
                           + std::to_string(car_bytes()) + "\r\n\r\n")
                 && peer.send(front_);
    bytes piece;
    for (size_t i = 0; going && i < contents_; ++i) {
      const auto next = section(record_block(i));
      piece.insert(piece.end(), next.begin(), next.end());
      if (piece.size() >= sent_at_once || i + 1 == contents_) {
        going = peer.send(piece);
        piece.clear();
      }
    }
  };
}

} // namespace weir::tests

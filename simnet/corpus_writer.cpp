// Writes a corpus (simnet/corpus_file.hpp).

#include "atproto/dag_cbor.hpp"
#include "atproto/frame.hpp"
#include "atproto/sha256.hpp"
#include "simnet/corpus_file.hpp"
#include "simnet/traffic.hpp"
#include "simnet/world.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace weir::simnet {

namespace {

/// Events between two writes; limits the memory for frames.
constexpr size_t events_at_once = 256;

void put_little(bytes& out, uint64_t x, size_t size) {
  for (size_t i = 0; i < size; ++i, x >>= 8)
    out.push_back(static_cast<uint8_t>(x));
}

void put_place(bytes& out, const frame_place& x) {
  put_little(out, x.offset, 8);
  put_little(out, static_cast<uint64_t>(x.seq), 8);
  put_little(out, x.size, 4);
  put_little(out, x.account, 4);
  put_little(out, static_cast<uint32_t>(x.records), 4);
  put_little(out, x.commit, 4);
}

bytes encode_index(const corpus_index& x) {
  atproto::cbor::writer out;
  out.begin_array(3).put_int(static_cast<int64_t>(x.hosts));
  out.begin_array(x.accounts.size());
  for (const auto& y : x.accounts)
    out.begin_array(10)
      .put_text(y.id.str())
      .put_text(y.handle)
      .put_text(y.signing_key)
      .put_int(static_cast<int64_t>(y.host))
      .put_int(static_cast<int64_t>(y.rev.value()))
      .put_link(y.head)
      .put_link(y.data)
      .put_int(static_cast<int64_t>(y.records))
      .put_int(static_cast<int64_t>(y.car_offset))
      .put_int(static_cast<int64_t>(y.car_size));
  bytes places;
  places.reserve(x.frames.size() * frame_place::encoded_size);
  for (const auto& y : x.frames)
    put_place(places, y);
  return out.put_bytes(places).take();
}

class corpus_writer {
public:
  explicit corpus_writer(const std::string& path)
    : out_(path, std::ios::binary | std::ios::trunc) {
    write(as_bytes("WEIRNET1"));
  }

  void add_accounts(const world& from) {
    index_.hosts = from.hosts();
    for (size_t i = 0; i < from.accounts(); ++i) {
      const auto x = from.view(i);
      const auto car = from.export_car(i);
      index_.accounts.push_back({x.id, x.handle, x.signing_key, x.host, x.rev,
                                 x.head, x.data, x.records, size_, car.size()});
      write(car.view());
    }
  }

  /// Adds what the relay has sent since the last call.
  void add_events(const world& from) {
    for (const auto& x : from.relay_log()->read(cursor_, SIZE_MAX, SIZE_MAX)) {
      cursor_ = x.seq;
      index_.frames.push_back(describe(from, x));
      write(x.frame.view());
    }
  }

  bool finish(corpus_summary& summary) {
    const auto index = encode_index(index_);
    const auto hash = atproto::sha256(index);
    bytes footer;
    put_little(footer, size_, 8);
    put_little(footer, index.size(), 8);
    footer.insert(footer.end(), hash.begin(), hash.end());
    write(index);
    write(footer);
    out_.close();
    summary.accounts = index_.accounts.size();
    summary.events = index_.frames.size();
    summary.file_bytes = size_;
    for (const auto& x : index_.accounts)
      summary.records += x.records;
    return !out_.fail();
  }

private:
  void write(bytes_view x) {
    out_.write(reinterpret_cast<const char*>(x.data()),
               static_cast<std::streamsize>(x.size()));
    size_ += x.size();
  }

  frame_place describe(const world& from,
                       const event_log::numbered_frame& x) const {
    frame_place out;
    out.offset = size_;
    out.seq = x.seq;
    out.size = static_cast<uint32_t>(x.frame.size());
    const auto peeked = atproto::peek_frame(x.frame.view()).value();
    out.account = static_cast<uint32_t>(from.find(peeked.did).value());
    out.commit = peeked.kind == atproto::frame_kind::commit;
    if (!out.commit)
      return out;
    const auto event = atproto::decode_frame(x.frame.view()).value();
    for (const auto& op : std::get<atproto::commit_event>(event).ops)
      out.records += (op.action == atproto::op_action::create)
                     - (op.action == atproto::op_action::remove);
    return out;
  }

  std::ofstream out_;
  uint64_t size_ = 0;
  int64_t cursor_ = 0;
  corpus_index index_;
};

} // namespace

result<corpus_summary> write_corpus(const std::string& path,
                                    network_options options, size_t events) {
  std::error_code unseen;
  const auto there = std::filesystem::status(path, unseen);
  if (exists(there) && !is_regular_file(there))
    return fail(ec::storage_failure,
                path + ": cannot be written: it is no file");
  options.relay = true;
  options.mix.handles = 0;
  options.window = {2 * events_at_once, SIZE_MAX};
  world model{options};
  traffic life{model};
  corpus_writer out{path};
  out.add_accounts(model);
  for (size_t made = 0; made < events;) {
    const auto wanted = std::min(events_at_once, events - made);
    const auto n = life.make(wanted);
    made += n;
    out.add_events(model);
    if (n < wanted)
      break;
  }
  corpus_summary summary;
  if (!out.finish(summary))
    return fail(ec::storage_failure, "cannot write " + path);
  return summary;
}

} // namespace weir::simnet

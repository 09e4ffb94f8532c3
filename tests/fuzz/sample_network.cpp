#include "tests/fuzz/sample_network.hpp"

#include "atproto/car.hpp"
#include "atproto/frame.hpp"
#include "atproto/mst_node.hpp"
#include "simnet/did_documents.hpp"
#include "simnet/event_log.hpp"
#include "simnet/request_faults.hpp"
#include "simnet/site.hpp"
#include "simnet/traffic.hpp"
#include "simnet/world.hpp"
#include "tests/support/manual_clock.hpp"

#include <map>

namespace weir::fuzz {

namespace {

constexpr size_t of_each_kind = 12;

bytes copy(bytes_view x) {
  return {x.begin(), x.end()};
}

void keep_frame(sample_network& out, std::map<atproto::frame_kind, size_t>& had,
                bytes_view frame) {
  const auto peek = atproto::peek_frame(frame);
  if (!peek || ++had[peek->kind] > of_each_kind)
    return;
  out.frames.push_back(copy(frame));
  const auto event = atproto::decode_frame(frame);
  if (!event)
    return;
  if (const auto* commit = std::get_if<atproto::commit_event>(&*event))
    out.slices.push_back(copy(commit->blocks));
}

void keep_blocks(sample_network& out, bytes_view car) {
  const auto slice = atproto::car_slice::parse(car);
  if (!slice)
    return;
  atproto::mst::node_reader reader;
  for (const auto& block : slice->blocks()) {
    auto& to = reader.open(block.data) ? out.nodes : out.records;
    if (to.size() < 2 * of_each_kind)
      to.push_back(copy(block.data));
  }
}

sample_network make_sample() {
  // The clock does not move, so that the bytes never change.
  const manual_clock time;
  simnet::network_options options;
  options.population.accounts = 24;
  options.population.records = 600;
  options.population.hosts = 2;
  options.population.unsafe_records = true;
  options.time = &time;
  simnet::world world{options};
  simnet::traffic traffic{world};
  traffic.make(600);

  sample_network out;
  std::map<atproto::frame_kind, size_t> had;
  for (const auto& each : world.relay_log()->read(0, 1'000, size_t{1} << 24))
    keep_frame(out, had, each.frame.view());
  simnet::request_faults faults{time};
  const std::vector<std::string> hosts{"https://a.example.com",
                                       "https://b.example.com:8443"};
  simnet::site site{world, faults, nullptr, "0", false, true, 1'000, hosts, {}};
  for (size_t i = 0; i < of_each_kind; ++i) {
    const auto car = world.export_car(i);
    if (car.size() < 65'536)
      out.exports.push_back(copy(car.view()));
    keep_blocks(out, car.view());
    site.legacy_documents = i % 2 != 0;
    const auto document = simnet::make_did_document(world.view(i), site);
    out.documents.push_back(copy(as_bytes(document)));
  }
  return out;
}

} // namespace

const sample_network& sample() {
  static const auto made = make_sample();
  return made;
}

} // namespace weir::fuzz

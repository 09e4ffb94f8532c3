#include "tests/system/realnet_capture.hpp"

#include "tests/support/split_frames.hpp"
#include "tests/support/vectors.hpp"

#include <algorithm>

namespace weir::tests {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

using happening = realnet_capture::happening;

json::value read_json(const fs::path& path) {
  return json::parse(read_file(path));
}

std::string field(const json::object& x, std::string_view key) {
  const auto* found = x.if_contains(key);
  return found == nullptr ? "" : json::value_to<std::string>(*found);
}

/// The name of a DID's files.
std::string file_name(std::string did) {
  std::ranges::replace(did, ':', '_');
  return did;
}

happening read_happening(size_t host, const shared_bytes& frame) {
  happening out;
  out.host = host;
  out.frame = frame;
  const auto event = atproto::decode_frame(out.frame.view()).value();
  std::visit(
    [&](const auto& x) {
      if constexpr (requires { x.time; }) {
        out.time = x.time;
        out.seq = x.seq;
        out.did = x.repo.str();
      }
    },
    event);
  return out;
}

void read_frames(const fs::path& path, size_t host,
                 std::vector<happening>& out) {
  const auto file = read_file(path);
  for (const auto& frame : split_frames(as_bytes(file), std::endian::big))
    out.push_back(read_happening(host, frame));
}

void read_operations(const fs::path& path, std::vector<happening>& out) {
  const auto log = read_json(path);
  for (const auto& entry : log.as_array()) {
    const auto& x = entry.as_object();
    happening made;
    made.time = field(x, "createdAt");
    made.did = field(x, "did");
    made.operation = x.at("operation").as_object();
    out.push_back(std::move(made));
  }
}

realnet_capture::account read_account(const json::object& x) {
  realnet_capture::account out;
  out.scenario = field(x, "scenario");
  out.handle = field(x, "handle");
  out.pds = field(x, "pds");
  out.status = field(x, "status");
  out.active = x.at("active").as_bool();
  out.tombstoned = x.contains("tombstoned");
  out.rev = field(x, "rev");
  out.head = field(x, "head");
  if (const auto* records = x.if_contains("records"))
    for (const auto& [path, id] : records->as_object())
      out.records.emplace(path, json::value_to<std::string>(id));
  return out;
}

} // namespace

realnet_capture::realnet_capture(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator{folder / "did"})
    if (entry.path().string().ends_with(".audit.json"))
      read_operations(entry.path(), story);
  for (size_t i = 0; i < hosts; ++i) {
    const auto name = "pds" + std::to_string(i);
    read_frames(folder / (name + ".frames"), i, story);
    listings[i] = read_json(folder / (name + ".listRepos.json")).as_array();
  }
  // At equal times the directory comes first.
  std::ranges::stable_sort(story, {}, &happening::time);
  const auto index = read_json(folder / "index.json").as_object();
  for (size_t i = 0; i < hosts; ++i)
    urls[i] = field(index.at("pds").at(i).as_object(), "url");
  for (const auto& [did, x] : index.at("dids").as_object()) {
    auto made = read_account(x.at("expect").as_object());
    const auto car = folder / "car" / (file_name(did) + ".car");
    if (fs::exists(car)) {
      const auto file = read_file(car);
      made.car.assign(file.begin(), file.end());
    }
    accounts.emplace(did, std::move(made));
  }
}

} // namespace weir::tests

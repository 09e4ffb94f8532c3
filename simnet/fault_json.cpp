#include "simnet/fault_json.hpp"

#include "atproto/json_fields.hpp"
#include "base/nearest.hpp"

#include <boost/json.hpp>

namespace weir::simnet {

namespace json = boost::json;
using atproto::text_at;

namespace {

/// Reads the number of a host. Sets `fits` to false when it is something else.
std::optional<size_t> read_host(const json::object& x, const char* name,
                                bool& fits) {
  if (!x.contains(name) || text_at(x, name) == "relay")
    return std::nullopt;
  const auto number = read_count(x, name, 0);
  fits = fits && number.has_value();
  return number ? std::optional{static_cast<size_t>(*number)} : std::nullopt;
}

} // namespace

std::optional<int64_t> read_count(const json::object& x, const char* name,
                                  int64_t fallback) {
  const auto* value = x.if_contains(name);
  if (!value)
    return fallback;
  const auto* number = value->if_int64();
  if (!number || *number < 0)
    return std::nullopt;
  return *number;
}

result<fault> read_fault(const json::object& x) {
  const std::string name{text_at(x, "kind")};
  const auto kind = parse_fault_kind(name);
  if (!kind)
    return fail(ec::invalid_argument, "unknown kind of fault: " + name
                                        + nearest_or_all(name, fault_names()));
  fault out;
  out.kind = *kind;
  out.did = text_at(x, "did");
  out.handle = text_at(x, "handle");
  out.silent = atproto::truth_at(x, "silent");
  const auto count = read_count(x, "count", 1);
  const auto time = read_count(x, "time_ms", out.time.count());
  const auto lasting = read_count(x, "for_ms", 0);
  const auto rate = read_count(x, "rate", static_cast<int64_t>(out.rate));
  bool fits = count && time && lasting && rate;
  out.host = read_host(x, "host", fits);
  out.target = read_host(x, "target", fits);
  if (!fits)
    return fail(ec::invalid_argument, "host, target, count, time_ms, for_ms "
                                      "and rate are integers from 0");
  out.count = static_cast<size_t>(*count);
  out.time = std::chrono::milliseconds{*time};
  out.lasting = std::chrono::milliseconds{*lasting};
  out.rate = static_cast<uint64_t>(*rate);
  return out;
}

result<fault> read_fault(std::string_view text) {
  const auto parsed = atproto::parse_object(text);
  if (!parsed)
    return fail(ec::invalid_argument, "this is no JSON object");
  return read_fault(*parsed);
}

} // namespace weir::simnet

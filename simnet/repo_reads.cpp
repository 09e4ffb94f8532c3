#include "atproto/record_json.hpp"
#include "simnet/sync_reads.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace weir::simnet {

namespace {

namespace json = boost::json;

/// The account of the parameter `repo`; nothing when this server does not serve
/// it.
std::optional<account_view> find_repo(const net::incoming_request& request,
                                      const site& where, const lens& look) {
  const auto* name = request.parameter("repo");
  if (!name)
    return std::nullopt;
  auto index = where.facts.find(*name);
  if (!index)
    index = where.facts.find_handle(*name);
  auto out = index ? look(where.facts.view(*index)) : std::nullopt;
  return out && out->served() ? out : std::nullopt;
}

net::http_reply no_such_repo(const net::incoming_request& request) {
  const auto* name = request.parameter("repo");
  return invalid_request("Could not find repo: " + (name ? *name : ""));
}

/// Appends `{"uri","cid","value"}`, without the value when JSON cannot
/// represent it.
void append_record(const account_view& account, const std::string& path,
                   const record& x, std::string& out) {
  out += R"({"uri":)";
  atproto::append_json_string("at://" + account.id.str() + "/" + path, out);
  out += R"(,"cid":")" + x.id.to_text() + '"';
  const auto before = out.size();
  out += R"(,"value":)";
  const auto hazard = atproto::append_record_json(x.block, out);
  if (!hazard || *hazard != atproto::json_hazard::none)
    out.resize(before);
  out += '}';
}

struct found_record {
  std::string path;
  record content;
};

/// All records of a collection in path order.
std::vector<found_record> collect(const truth& facts, size_t index,
                                  const std::string& prefix) {
  std::vector<found_record> out;
  facts.visit_records(index, prefix,
                      [&](const std::string& path, const record& x) {
                        if (!path.starts_with(prefix))
                          return false;
                        out.push_back({path, x});
                        return true;
                      });
  return out;
}

} // namespace

net::http_reply describe_repo(const net::incoming_request& request,
                              const site& where, const lens& look) {
  const auto account = find_repo(request, where, look);
  if (!account)
    return no_such_repo(request);
  std::set<std::string> collections;
  where.facts.visit_records(
    account->index, {}, [&](const std::string& path, const record&) {
      collections.insert(path.substr(0, path.find('/')));
      return true;
    });
  return ok_reply(
    {{"handle", account->handle},
     {"did", account->id.str()},
     {"collections", json::array(collections.begin(), collections.end())},
     {"handleIsCorrect", true}});
}

net::http_reply list_records(const net::incoming_request& request,
                             const site& where, const lens& look) {
  const auto account = find_repo(request, where, look);
  if (!account)
    return no_such_repo(request);
  const auto* collection = request.parameter("collection");
  if (!collection || !atproto::valid_nsid(*collection))
    return invalid_request("Error: Params must have the property "
                           "\"collection\" as an NSID");
  const auto prefix = *collection + "/";
  const auto* order = request.parameter("reverse");
  const auto ascending = order && *order == "true";
  auto records = collect(where.facts, account->index, prefix);
  if (!ascending)
    std::ranges::reverse(records);
  auto at = records.begin();
  if (const auto* cursor = request.parameter("cursor"))
    at = std::ranges::find_if(records, [&](const found_record& x) {
      return ascending ? x.path > prefix + *cursor : x.path < prefix + *cursor;
    });
  std::string out = R"({"records":[)";
  std::string last;
  for (auto left = size_parameter(request, "limit", 50, 100);
       at != records.end() && left > 0; ++at, --left) {
    if (!last.empty())
      out += ',';
    append_record(*account, at->path, at->content, out);
    last = at->path.substr(prefix.size());
  }
  out += ']';
  if (!last.empty()) {
    out += R"(,"cursor":)";
    atproto::append_json_string(last, out);
  }
  return net::json_reply(200, out + '}');
}

net::http_reply get_record(const net::incoming_request& request,
                           const site& where, const lens& look) {
  const auto account = find_repo(request, where, look);
  if (!account)
    return no_such_repo(request);
  const auto* collection = request.parameter("collection");
  const auto* rkey = request.parameter("rkey");
  if (!collection || !rkey)
    return invalid_request("Error: Params must have the properties "
                           "\"collection\" and \"rkey\"");
  const auto path = *collection + "/" + *rkey;
  const auto found = collect(where.facts, account->index, *collection + "/");
  const auto at = std::ranges::find(found, path, &found_record::path);
  if (at == found.end())
    return net::error_reply(400, "RecordNotFound",
                            "Could not locate record: at://" + account->id.str()
                              + "/" + path);
  std::string out;
  append_record(*account, path, at->content, out);
  return net::json_reply(200, out);
}

} // namespace weir::simnet

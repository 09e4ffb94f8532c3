#include "apps/weir/commands.hpp"
#include "apps/weir/reached_node.hpp"
#include "atproto/identifiers.hpp"
#include "base/printable.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <iostream>

namespace weir::apps {

namespace {

namespace json = boost::json;

struct repos_flags {
  std::string node = data_port.address;
  std::string password_file;
  std::vector<std::string> dids;
  std::vector<std::string> collections;
};

int complain(const std::string& text) {
  std::cerr << "weir: " << printable(text) << "\n";
  return failed;
}

/// Prints the node's answer, escaped so that a terminal only displays it.
int print(const result<net::http_response>& x) {
  const auto body = body_of(x, data_port);
  if (!body)
    return complain(body.error().context);
  std::cout << printable_json(*body) << std::endl;
  return all_good;
}

result<reached_node> reach(const repos_flags& x) {
  return reach_node(x.node, data_port, x.password_file);
}

int post(const repos_flags& flags, const std::string& path) {
  json::object body{
    {"dids", json::array(flags.dids.begin(), flags.dids.end())}};
  if (!flags.collections.empty())
    body["collections"]
      = json::array(flags.collections.begin(), flags.collections.end());
  const auto node = reach(flags);
  return node ? print(
           node->client->post(node->origin + path, json::serialize(body)))
              : complain(node.error().context);
}

int get(const repos_flags& flags, const std::string& path) {
  const auto node = reach(flags);
  return node ? print(node->client->get(node->origin + path))
              : complain(node.error().context);
}

/// The DID becomes part of the path, so its syntax is checked.
int show(const repos_flags& flags, const std::string& path) {
  for (const auto& text : flags.dids) {
    if (!atproto::did::parse(text))
      return complain(text + " is no DID");
    if (const auto status = get(flags, path + text + "/completeness");
        status != all_good)
      return status;
  }
  return all_good;
}

struct repos_call {
  const char* name;
  const char* what;
  int (*run)(const repos_flags& flags, const std::string& path);
  const char* path;
  bool takes_dids = true;
};

constexpr repos_call calls[]{
  {"add", "Track these repos", post, "/repos/add"},
  {"remove", "Stop tracking these repos", post, "/repos/remove"},
  {"resync", "Fetch these repos again", post, "/repos/resync"},
  {"show", "Say whether the copies of these repos are complete, and why not",
   show, "/v1/repos/"},
  {"list", "List the first repos that are tracked", get, "/repos", false},
  {"errors", "List the first repos whose fetches failed", get,
   "/repos/errors", false},
};

} // namespace

void add_repos(CLI::App& app, int& status) {
  auto* repos = app.add_subcommand(
    "repos", "Tell a running node which repos to follow, and ask about them");
  repos->require_subcommand(1);
  const auto flags = std::make_shared<repos_flags>();
  for (const auto& x : calls) {
    auto* out = repos->add_subcommand(x.name, x.what);
    if (x.takes_dids)
      out->add_option("DID", flags->dids, "Repos")->required();
    out
      ->add_option("--node", flags->node,
                   "Data address of the node, http://127.0.0.1:2480 by default")
      ->type_name("URL");
    out
      ->add_option("--admin-password-file", flags->password_file,
                   "File with the node's password")
      ->type_name("FILE");
    out->callback([flags, &x, &status] {
      status = x.run(*flags, x.path);
    });
  }
  repos->get_subcommand("add")
    ->add_option("--collection", flags->collections,
                 "Keep only these collections of the repos")
    ->type_name("NSID");
}

} // namespace weir::apps

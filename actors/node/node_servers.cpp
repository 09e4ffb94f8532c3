#include "actors/node/node_servers.hpp"

namespace weir::actors {

result<void> node_servers::start(caf::actor_system& system, api_environment env,
                                 const node_config& config,
                                 const net::transport_ptr& transport,
                                 const clock& time) {
  auto hosts = config.allowed_hosts;
  for (const auto& at : {config.bind, config.operations_bind})
    hosts.push_back(at.substr(0, at.rfind(':')));
  access = std::make_shared<access_control>(
    access_options{config.admin_password, std::move(hosts), config.open_probes},
    time);
  faces = make_api(system, std::move(env), access);
  const auto open
    = [&transport](const char* option, const std::string& at,
                   const std::shared_ptr<net::http_service>& service,
                   std::shared_ptr<net::http_server>& server,
                   std::string& url) -> result<void> {
    auto where = net::endpoint::parse(at);
    if (!where)
      return where.error();
    net::http_server_options options;
    options.at = *where;
    auto made = net::make_http_server(transport, service, options);
    if (!made)
      return fail(made.error().code,
                  std::string{option} + ": " + made.error().context
                    + "; choose another address or port, or end what listens "
                      "there");
    server = std::move(*made);
    url = "http://" + net::to_string(server->local());
    return {};
  };
  if (auto ok = open("bind", config.bind, faces.data, data, data_url); !ok)
    return ok;
  return open("operations_bind", config.operations_bind, faces.operations,
              operations, operations_url);
}

} // namespace weir::actors

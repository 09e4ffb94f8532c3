#include "apps/weir/reload.hpp"

#include "actors/node/node.hpp"
#include "apps/weir/option_table.hpp"
#include "base/joined.hpp"
#include "base/log.hpp"

#include <utility>

namespace weir::apps {

reload_plan plan_reload(const settings& running, const loaded_settings& anew) {
  reload_plan out;
  out.problems = anew.problems;
  const auto& wanted = anew.values;
  // Without a password the port would be open to everybody who reaches it.
  if (wanted.admin_password.empty() && !running.admin_password.empty()
      && out.problems.empty())
    out.problems.emplace_back(
      "admin_password_file: a password is taken away by a restart only");
  if (!out.problems.empty())
    return out;
  out.password = wanted.admin_password != running.admin_password;
  for (const auto& x : all_options()) {
    if (x.get(running) == x.get(wanted))
      continue;
    if (x.name == "log_level" || x.name == "log_format")
      out.log = true;
    else if (x.name != "admin_password_file")
      out.at_restart.emplace_back(x.name);
  }
  return out;
}

running_settings::running_settings(flag_values flags, settings loaded)
  : flags_(std::move(flags)), loaded_(loaded), values_(std::move(loaded)) {}

void running_settings::reload(actors::node* to) {
  const auto anew = load_settings(flags_, process_environment());
  const auto plan = plan_reload(loaded_, anew);
  for (const auto& x : plan.problems)
    log::error("reload_refused", {{"reason", x}});
  if (!plan.problems.empty())
    return;
  for (auto* x : {&loaded_, &values_}) {
    x->log_level = anew.values.log_level;
    x->log_format = anew.values.log_format;
    x->admin_password_file = anew.values.admin_password_file;
    x->admin_password = anew.values.admin_password;
  }
  if (plan.log)
    configure_log(values_);
  if (plan.password && to != nullptr)
    to->set_admin_password(values_.admin_password);
  log::info("reloaded",
            {{"log", plan.log ? "changed" : "as before"},
             {"password", plan.password ? "changed" : "as before"}});
  if (!plan.at_restart.empty())
    log::warn("reload_needs_restart", {{"options", joined(plan.at_restart)}});
}

} // namespace weir::apps

#include "apps/weir/load_settings.hpp"

#include "actors/node/limits.hpp"
#include "base/joined.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace weir::apps {

namespace {

constexpr std::string_view config_variable = "WEIR_CONFIG";

void take_text(given_values& out, const option& to, const std::string& where,
               const std::string& text) {
  auto value = parse_value(to.kind, text);
  if (value)
    out.values.push_back({&to, std::move(*value), where, text, where});
  else
    out.problems.push_back(unfit(to, where, text));
}

given_values read_environment(const environment& variables,
                              foreign_variables& others) {
  given_values out;
  const auto& all = all_options();
  for (const auto& [name, text] : variables) {
    const auto to = std::ranges::find(all, name, &option::variable);
    if (to != all.end())
      take_text(out, *to, name, text);
    else
      others.add(name, text);
  }
  return out;
}

/// Repeated flags give one list.
given_values read_flags(const flag_values& flags) {
  given_values out;
  for (const auto& [to, texts] : flags.given)
    take_text(out, *to, to->flag(), joined(texts, ","));
  return out;
}

bool has_port_zero(const std::string& bind) {
  return bind.ends_with(":0");
}

void read_password(loaded_settings& out) {
  auto secret = read_secret(out.values.admin_password_file,
                            "this prints a good one: head -c 24 /dev/urandom "
                            "| base64");
  if (secret)
    out.values.admin_password = std::move(*secret);
  else
    out.problems.push_back("admin_password_file: " + secret.error().context);
}

} // namespace

void configure_log(const settings& x) {
  const bool text
    = x.log_format == log_layout::text
      || (x.log_format == log_layout::automatic && isatty(STDERR_FILENO) == 1);
  log::configure(x.log_level, text ? log::format::text : log::format::json);
}

void take_values(loaded_settings& out, given_values from) {
  std::move(from.problems.begin(), from.problems.end(),
            std::back_inserter(out.problems));
  for (const auto& x : from.values) {
    const auto taken = x.to->set(out.values, x.value);
    if (taken)
      out.origins[x.to] = x.origin;
    else if (taken.error().context.empty())
      out.problems.push_back(unfit(*x.to, x.where, x.shown));
    else
      out.problems.push_back(x.where + " = " + x.shown + ": must be "
                             + taken.error().context);
  }
}

environment process_environment() {
  environment out;
  for (char** x = environ; *x != nullptr; ++x) {
    const std::string_view line{*x};
    const auto sign = line.find('=');
    const auto is_ours = line.starts_with("WEIR_") || line.starts_with("TAP_");
    if (is_ours && sign + 1 < line.size())
      out.emplace(line.substr(0, sign), line.substr(sign + 1));
  }
  return out;
}

result<std::string> read_secret(const std::string& path,
                                std::string_view remedy) {
  constexpr auto range = limits::admin_password_bytes_range;
  constexpr size_t line_break_max = 2;
  auto text
    = read_small_file(path, range.max + line_break_max, file_secrecy::secret);
  const auto advice = " " + std::string{remedy};
  if (!text && text.error().code != ec::invalid_argument)
    return fail(text.error().code,
                text.error().context
                  + "; give the path of a file with a password;" + advice);
  if (!text)
    return text.error();
  if (text->ends_with('\n'))
    text->pop_back();
  if (text->ends_with('\r'))
    text->pop_back();
  if (text->size() < range.min || text->size() > range.max)
    return fail(ec::invalid_argument,
                path + ": a password has " + std::to_string(range.min) + " to "
                  + std::to_string(range.max) + " bytes, and this one "
                  + std::to_string(text->size()) + ";" + advice);
  if (std::any_of(text->begin(), text->end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      }))
    return fail(ec::invalid_argument,
                path + ": a password is one line without control bytes;"
                  + advice);
  return text;
}

loaded_settings load_settings(const flag_values& flags,
                              const environment& variables) {
  loaded_settings out;
  if (flags.config)
    take_values(out, read_config(*flags.config));
  else if (const auto named = variables.find(config_variable);
           named != variables.end())
    take_values(out, read_config(named->second));
  take_values(out, read_environment(variables, out.others));
  std::ranges::copy(out.others.problems, std::back_inserter(out.problems));
  take_values(out, read_flags(flags));
  auto& values = out.values;
  if (has_port_zero(values.bind)
      && !out.origins.contains(find_option("operations_bind")))
    values.operations_bind = "127.0.0.1:0";
  auto checked = values;
  if (!values.admin_password_file.empty()) {
    read_password(out);
    // A valid stand-in, since a password that cannot be read is one error and
    // not two.
    checked.admin_password = std::string(16, '*');
  }
  for (auto& x : checked.problems())
    out.problems.push_back(std::move(x));
  return out;
}

} // namespace weir::apps

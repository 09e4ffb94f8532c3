#include "apps/weir/config_file.hpp"

#include "apps/weir/limits.hpp"
#include "base/nearest.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sstream>
#include <sys/stat.h>

namespace weir::apps {

namespace {

std::string place(const std::string& name, const toml::source_region& x) {
  return name + ":" + std::to_string(x.begin.line) + ":"
         + std::to_string(x.begin.column);
}

/// A value as it is written in the file, on one line and cut after 60 bytes.
std::string show(const toml::node& x) {
  constexpr size_t shown_max = 60;
  std::ostringstream out;
  x.visit([&](const auto& node) {
    out << node;
  });
  auto text = out.str();
  if (text.size() > shown_max || text.find('\n') != std::string::npos)
    text = text.substr(0, std::min(text.find('\n'), shown_max)) + "...";
  return text;
}

std::optional<std::vector<std::string>> read_list(const toml::node& x) {
  if (const auto* text = x.as_string())
    return std::vector{text->get()};
  const auto* array = x.as_array();
  if (array == nullptr)
    return std::nullopt;
  std::vector<std::string> out;
  for (const auto& each : *array) {
    const auto* text = each.as_string();
    if (text == nullptr)
      return std::nullopt;
    out.push_back(text->get());
  }
  return out;
}

/// The value, if it has the kind of the option.
std::optional<option_value> read_value(const option& to, const toml::node& x) {
  if (to.kind == value_kind::list) {
    auto list = read_list(x);
    return list ? std::optional<option_value>{std::move(*list)} : std::nullopt;
  }
  if (const auto* truth = x.as_boolean())
    return to.kind == value_kind::boolean
             ? std::optional<option_value>{truth->get()}
             : std::nullopt;
  if (const auto* whole = x.as_integer()) {
    if (to.kind == value_kind::number || to.kind == value_kind::size)
      return whole->get();
    if (to.kind == value_kind::real)
      return static_cast<double>(whole->get());
    return std::nullopt;
  }
  if (const auto* real = x.as_floating_point())
    return to.kind == value_kind::real
             ? std::optional<option_value>{real->get()}
             : std::nullopt;
  const auto* text = x.as_string();
  if (text == nullptr || to.kind == value_kind::boolean
      || to.kind == value_kind::number || to.kind == value_kind::real)
    return std::nullopt;
  auto value = parse_value(to.kind, text->get());
  return value ? std::optional{std::move(*value)} : std::nullopt;
}

std::vector<std::string> option_names() {
  std::vector<std::string> out;
  for (const auto& x : all_options())
    out.emplace_back(x.name);
  return out;
}

void read_key(given_values& out, const std::string& file, const toml::key& key,
              const toml::node& node) {
  const auto at = place(file, key.source());
  const std::string name{key.str()};
  const auto* to = find_option(name);
  if (to == nullptr) {
    const auto nearest = suggestion(name, option_names());
    out.problems.push_back(at + ": unknown key \"" + name + "\""
                           + (nearest.empty()
                                ? "; \"weir config print\" lists all options"
                                : nearest));
    return;
  }
  auto value = read_value(*to, node);
  if (!value) {
    out.problems.push_back(unfit(*to, at + ": " + name, show(node)));
    return;
  }
  out.values.push_back({to, std::move(*value), at + ": " + name, show(node),
                        file + ":" + std::to_string(key.source().begin.line)});
}

} // namespace

std::string unfit(const option& x, const std::string& where,
                  const std::string& shown) {
  return where + " = " + shown + ": must be " + x.requirement();
}

given_values parse_config(std::string_view text, const std::string& name) {
  given_values out;
  try {
    const auto root = toml::parse(text, name);
    // toml++ sorts by name, but people read from top to bottom.
    std::vector<std::pair<const toml::key*, const toml::node*>> lines;
    for (const auto& [key, node] : root)
      lines.emplace_back(&key, &node);
    std::ranges::sort(lines, {}, [](const auto& x) {
      return std::pair{x.first->source().begin.line,
                       x.first->source().begin.column};
    });
    for (const auto& [key, node] : lines)
      read_key(out, name, *key, *node);
  } catch (const toml::parse_error& x) {
    out.problems.push_back(
      place(name, x.source()) + ": " + std::string{x.description()}
      + "; a line is NAME = VALUE, as \"weir config print\" "
        "writes it");
  }
  return out;
}

result<std::string> read_small_file(const std::string& path, size_t bytes_max,
                                    file_secrecy secrecy) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const auto number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0 && errno == EACCES)
    return fail(ec::invalid_argument,
                path + ": cannot be read: " + std::strerror(errno)
                  + "; give the user who runs this permission to read it");
  if (number < 0)
    return fail(ec::not_found,
                path + ": cannot be read: " + std::strerror(errno));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{
    ::fdopen(number, "rb"), std::fclose};
  struct stat x {};
  if (!file || ::fstat(number, &x) != 0 || !S_ISREG(x.st_mode))
    return fail(ec::not_found, path + ": cannot be read: it is no file");
  if (secrecy == file_secrecy::secret && (x.st_mode & (S_IRWXO | S_IWGRP)) != 0)
    return fail(ec::invalid_argument,
                path
                  + ": other users may read or change it; make it yours "
                    "alone with chmod 600");
  std::string out(bytes_max + 1, '\0');
  out.resize(std::fread(out.data(), 1, out.size(), file.get()));
  if (std::ferror(file.get()) != 0)
    return fail(ec::not_found, path + ": cannot be read");
  if (out.size() > bytes_max)
    return fail(ec::limit_reached,
                path + ": more than " + std::to_string(bytes_max) + " bytes");
  return out;
}

given_values read_config(const std::string& path) {
  const auto text
    = read_small_file(path, limits::config_file_bytes_max, file_secrecy::open);
  if (text)
    return parse_config(*text, path);
  given_values out;
  out.problems.push_back(
    text.error().context
    + (text.error().code == ec::invalid_argument
         ? ""
         : "; give the path of a TOML file, such as one that weir config "
           "print wrote"));
  return out;
}

} // namespace weir::apps

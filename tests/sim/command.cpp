#include "tests/sim/command.hpp"

#include "tests/sim/deeds.hpp"
#include "tests/sim/runs.hpp"

#include <charconv>
#include <iostream>
#include <string_view>

namespace weir::sim {

namespace {

bool read_number(std::string_view text, uint64_t& out) {
  const auto [end, why]
    = std::from_chars(text.data(), text.data() + text.size(), out);
  return why == std::errc{} && end == text.data() + text.size();
}

bool read_range(std::string_view text, command& out) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos)
    return false;
  return read_number(text.substr(0, colon), out.first)
         && read_number(text.substr(colon + 1), out.last)
         && out.first <= out.last;
}

bool read_set(std::string_view text, std::set<size_t>& out) {
  if (text == "none")
    return true;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    uint64_t x = 0;
    if (!read_number(text.substr(0, comma), x))
      return false;
    out.insert(x);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

bool read_value(std::string_view name, std::string_view value, command& out) {
  uint64_t number = 0;
  if (name == "--seeds")
    return read_range(value, out);
  if (name == "--only")
    return !value.empty() && read_set(value, out.only.emplace());
  if (name == "--fail-on") {
    out.fail_on = value;
    return true;
  }
  if (!read_number(value, number))
    return false;
  if (name == "--seed")
    out.first = out.last = number;
  else if (name == "--jobs")
    out.jobs = std::max<uint64_t>(number, 1);
  else if (name == "--failures")
    out.failures_max = std::max<uint64_t>(number, 1);
  else if (name == "--threads")
    out.threads = std::max<uint64_t>(number, 1);
  else
    return false;
  return true;
}

bool read_flag(std::string_view name, command& out) {
  if (name == "--trace")
    out.trace = true;
  else if (name == "--log")
    out.log = true;
  else if (name == "--each")
    out.each = true;
  else if (name == "--table")
    out.table = true;
  else if (name == "--whole")
    out.whole = true;
  else if (name == "--no-shrink")
    out.shrink = false;
  else
    return false;
  return true;
}

} // namespace

const char* usage() noexcept {
  return "weir-sim --seeds A:B | --seed S [options]\n"
         "  --jobs N       processes that share the seeds (1)\n"
         "  --failures N   ends after so many failures (1)\n"
         "  --only I,J     carries out these deeds of the seed only; or none\n"
         "  --threads N    what the node is told to have (1): the same run\n"
         "  --fail-on NAME calls a run failed in which that happened, by its\n"
         "                 name in the table\n"
         "  --no-shrink    leaves a failing run as it is\n"
         "  --each         a line for each seed\n"
         "  --table        counts of what happened\n"
         "  --whole        fails when a kind of fault did not happen\n"
         "  --trace        every step of one run, to the output\n"
         "  --log          the node's log, to the error output\n";
}

result<command> parse_command(int argc, char** argv) {
  command out;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (read_flag(name, out))
      continue;
    if (i + 1 >= argc || !read_value(name, argv[i + 1], out))
      return fail(ec::invalid_argument, "not understood: " + name);
    ++i;
  }
  if (out.trace && out.first != out.last)
    return fail(ec::invalid_argument, "a trace is of one seed");
  return out;
}

size_t run_command(const command& x) {
  if (x.trace) {
    const auto found = run_trial(x.first, {&std::cout, x.only, x.threads});
    std::cerr << line_of(x.first, found) << '\n';
    return found.good() ? 0 : 1;
  }
  const auto all = run_seeds(x);
  if (x.table)
    print_table(all, std::cout);
  std::cout << all.runs << " runs, " << all.failures << " failed, "
            << all.virtual_seconds / 3'600 << " virtual hours, " << all.steps
            << " steps\n";
  const auto missing = x.whole ? missing_kinds(all) : std::set<std::string>{};
  for (const auto& name : missing)
    std::cout << "never happened: " << name << '\n';
  return all.failures + missing.size();
}

} // namespace weir::sim

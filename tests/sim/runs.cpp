#include "tests/sim/runs.hpp"

#include "tests/sim/deeds.hpp"
#include "tests/sim/enemies.hpp"
#include "tests/sim/occurrences.hpp"

#include <array>
#include <iostream>
#include <sstream>
#include <csignal>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace weir::sim {

namespace {

verdict try_seed(uint64_t seed, const command& x,
                 const std::optional<std::set<size_t>>& only) {
  auto out = run_trial(seed, {nullptr, only, x.threads});
  if (out.good() && !x.fail_on.empty() && out.counts.contains(x.fail_on)) {
    out.broken = "asked";
    out.how = x.fail_on + " happened";
  }
  return out;
}

/// The fewest deeds that break the same property: leaves out each in turn, as
/// long as that changes something.
std::set<size_t> shrink(uint64_t seed, const verdict& found, const command& x) {
  std::set<size_t> kept;
  for (size_t i = 0; i < found.deeds; ++i)
    kept.insert(i);
  for (auto size = kept.size() + 1; size > kept.size();) {
    size = kept.size();
    for (const auto i : std::vector<size_t>{kept.begin(), kept.end()}) {
      auto fewer = kept;
      fewer.erase(i);
      if (try_seed(seed, x, fewer).broken == found.broken)
        kept = std::move(fewer);
    }
  }
  return kept;
}

std::string join(const std::set<size_t>& x) {
  if (x.empty())
    return "none";
  std::string out;
  for (const auto i : x)
    out += (out.empty() ? "" : ",") + std::to_string(i);
  return out;
}

/// A text with the failure, the deeds that led to it, and the command that
/// repeats it.
std::string tell(uint64_t seed, const verdict& found, const command& x) {
  std::string out = "FAILED " + line_of(seed, found) + "\n";
  auto only = x.only;
  if (x.shrink && !only)
    only = shrink(seed, found, x);
  if (!only && !x.shrink)
    return out + "  weir-sim --seed " + std::to_string(seed) + "\n";
  const auto deeds = draw_deeds(draw_settings(seed, system_clock()));
  for (size_t i = 0; i < deeds.size(); ++i)
    if (!only || only->contains(i))
      out += "  " + std::to_string(i) + " " + describe(deeds[i]) + "\n";
  out += "  weir-sim --seed " + std::to_string(seed);
  if (only)
    out += " --only " + join(*only);
  return out + " --trace\n";
}

/// Runs every `x.jobs`-th seed, from the `part`-th on.
/// @param at Set to the seed that runs.
summary run_part(const command& x, size_t part, std::ostream& out,
                 uint64_t& at) {
  summary all;
  for (auto seed = x.first + part; seed <= x.last; seed += x.jobs) {
    at = seed;
    const auto found = try_seed(seed, x, x.only);
    all.add(found);
    if (x.each)
      out << line_of(seed, found) + "\n" << std::flush;
    if (found.good())
      continue;
    out << tell(seed, found, x) << std::flush;
    if (all.failures >= x.failures_max)
      break;
  }
  return all;
}

std::string pack(const summary& x) {
  std::ostringstream out;
  out << x.runs << ' ' << x.failures << ' ' << x.steps << ' '
      << x.virtual_seconds << ' ' << x.settled_max << '\n';
  for (const auto& [name, count] : x.counts)
    out << count << ' ' << name << '\n';
  return out.str();
}

void unpack(const std::string& text, uint64_t at, summary& all) {
  std::istringstream in{text};
  summary x;
  in >> x.runs >> x.failures >> x.steps >> x.virtual_seconds >> x.settled_max;
  if (!in) {
    std::cout << "FAILED seed " << at << ": the process died\n"
              << "  weir-sim --seed " << at << " --no-shrink\n"
              << std::flush;
    ++all.failures;
    return;
  }
  all.runs += x.runs;
  all.failures += x.failures;
  all.steps += x.steps;
  all.virtual_seconds += x.virtual_seconds;
  all.settled_max = std::max(all.settled_max, x.settled_max);
  uint64_t count = 0;
  std::string name;
  while (in >> count && std::getline(in >> std::ws, name))
    all.counts[name] += count;
}

} // namespace

void summary::add(const verdict& x) {
  ++runs;
  failures += x.good() ? 0 : 1;
  steps += x.steps;
  virtual_seconds += static_cast<uint64_t>(x.virtual_time.count());
  settled_max = std::max(settled_max,
                         static_cast<uint64_t>(x.settled_after.count()));
  for (const auto& [name, count] : x.counts)
    counts[name] += count;
}

std::string line_of(uint64_t seed, const verdict& x) {
  std::ostringstream out;
  out << "seed " << seed << ": "
      << (x.good() ? "good" : x.broken + ": " + x.how) << " (trace "
      << std::hex << x.trace_hash << std::dec << ", " << x.steps << " steps, "
      << x.virtual_time.count() << " s, settled after "
      << x.settled_after.count() << " s)";
  return out.str();
}

summary run_seeds(const command& x) {
  if (x.jobs == 1) {
    uint64_t at = 0;
    return run_part(x, 0, std::cout, at);
  }
  struct child {
    pid_t id;
    int result;
    uint64_t* at; ///< Shared memory with the seed that runs.
  };
  std::vector<child> children;
  std::cout << std::flush;
  for (size_t i = 0; i < x.jobs; ++i) {
    std::array<int, 2> ends{};
    auto* shared = ::mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || ::pipe(ends.data()) != 0)
      break;
    auto* at = static_cast<uint64_t*>(shared);
    const auto id = ::fork();
    if (id == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto text = pack(run_part(x, i, std::cout, *at));
      const auto sent = ::write(ends[1], text.data(), text.size());
      ::_exit(sent == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    children.push_back({id, ends[0], at});
  }
  summary all;
  for (const auto& each : children) {
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t n = 0;
         (n = ::read(each.result, piece.data(), piece.size())) > 0;)
      text.append(piece.data(), static_cast<size_t>(n));
    ::close(each.result);
    ::waitpid(each.id, nullptr, 0);
    unpack(text, *each.at, all);
  }
  return all;
}

std::set<std::string> missing_kinds(const summary& x) {
  std::set<std::string> out;
  const auto look = [&](const std::string& name) {
    if (!x.counts.contains(name))
      out.insert(name);
  };
  for (const auto& name : counted_settings())
    look(name);
  for (const auto& name : known_details())
    look(name);
  for (size_t i = 0; i < deed_kinds; ++i)
    if (static_cast<deed_kind>(i) != deed_kind::fault)
      look(to_string(static_cast<deed_kind>(i)));
  for (size_t i = 0; i < simnet::fault_kinds; ++i) {
    const auto kind = static_cast<simnet::fault_kind>(i);
    if (kind != simnet::fault_kind::mend
        && kind != simnet::fault_kind::directory_up)
      look(std::string{"fault "} + simnet::to_string(kind));
  }
  return out;
}

void print_table(const summary& x, std::ostream& out) {
  out << "settled after at most " << x.settled_max << " s\n";
  for (const auto& [name, count] : x.counts)
    out << "  " << count << "  " << name << '\n';
}

} // namespace weir::sim

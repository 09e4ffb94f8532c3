#include "bench/machine.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace weir::bench {

namespace {

double seconds_of(clockid_t which) {
  timespec out{};
  clock_gettime(which, &out);
  return static_cast<double>(out.tv_sec)
         + static_cast<double>(out.tv_nsec) / 1e9;
}

double ticks_to_seconds(double x) {
  return x / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// User and system time of another process.
double cpu_seconds_of(pid_t id) {
  std::ifstream in{"/proc/" + std::to_string(id) + "/stat"};
  std::string line;
  std::getline(in, line);
  // The name may contain anything, so fields are counted after it.
  std::istringstream fields{
    line.substr(std::min(line.rfind(')') + 1, line.size()))};
  std::string skipped;
  constexpr int before_user_time = 11;
  for (int i = 0; i < before_user_time; ++i)
    fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return ticks_to_seconds(user + system);
}

/// Time of all cores since the machine started: the work of all processes and
/// the time that the host took away, without idle time and interrupts.
double machine_seconds() {
  std::ifstream in{"/proc/stat"};
  std::string name;
  in >> name;
  // The order is: user, nice, system, idle, iowait, irq, softirq, steal.
  std::array<double, 8> spent{};
  for (auto& x : spent)
    in >> x;
  return ticks_to_seconds(spent[0] + spent[1] + spent[2] + spent[7]);
}

std::string value_of(const std::string& line) {
  const auto at = line.find(": ");
  return at == std::string::npos ? "" : line.substr(at + 2);
}

} // namespace

machine_facts this_machine() {
  machine_facts out;
  out.cores = std::max(1u, std::thread::hardware_concurrency());
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line) && !line.empty();) {
    if (line.starts_with("model name"))
      out.processor = value_of(line);
    if (!line.starts_with("flags"))
      continue;
    const auto flags = value_of(line) + " ";
    for (const auto* x : {"avx2", "avx512f", "sha_ni"})
      if (flags.find(std::string{" "} + x + " ") != std::string::npos)
        out.extensions += (out.extensions.empty() ? "" : " ") + std::string{x};
  }
  return out;
}

double steady_seconds() {
  return seconds_of(CLOCK_MONOTONIC);
}

double thread_cpu_seconds() {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double process_cpu_seconds() {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

cpu_meter::cpu_meter(pid_t outside) : outside_(outside), start_(read()) {}

cpu_meter::reading cpu_meter::read() const {
  return {steady_seconds(), process_cpu_seconds(), cpu_seconds_of(outside_),
          machine_seconds()};
}

cpu_meter::usage cpu_meter::stop() const {
  const auto end = read();
  usage out;
  out.own = end.own - start_.own;
  out.outside = end.outside - start_.outside;
  const auto others = end.machine - start_.machine - out.own - out.outside;
  const auto all
    = (end.wall - start_.wall) * std::thread::hardware_concurrency();
  // Ticks are coarse, so a short run may seem to have used more than 100 %.
  out.others_percent = std::max(0.0, 100 * others / all);
  return out;
}

} // namespace weir::bench

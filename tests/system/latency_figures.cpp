#include "tests/system/latency_figures.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iomanip>
#include <sstream>

namespace weir::tests {

namespace {

/// @param sorted In ascending order, not empty.
double part_of(const std::vector<double>& sorted, double share) {
  const auto at = static_cast<double>(sorted.size() - 1) * share;
  return sorted[static_cast<size_t>(at)];
}

/// The CPU time that other machines on this machine's host took so far, in
/// hundredths of a second of one processor.
uint64_t stolen_time() {
  std::ifstream in{"/proc/stat"};
  std::string name;
  uint64_t out = 0;
  in >> name;
  for (int column = 0; column < 8; ++column)
    in >> out;
  return out;
}

std::vector<double> of_runs(const std::vector<std::vector<double>>& runs,
                            double share) {
  std::vector<double> out;
  for (const auto& x : runs)
    out.push_back(part_of(x, share));
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

void latency_figures::add(std::vector<double> run) {
  std::sort(run.begin(), run.end());
  runs_.push_back(std::move(run));
}

double latency_figures::p99() const {
  return part_of(of_runs(runs_, 0.99), 0.5);
}

std::string latency_figures::text() const {
  constexpr std::array<std::pair<const char*, double>, 4> shares{
    {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"most", 1}}};
  std::ostringstream out;
  out << std::fixed << std::setprecision(2);
  out << name_ << ": " << runs_.size() << " runs of " << runs_.front().size()
      << " commits, " << bad_frames << " bad frames; ms, least, median and "
      << "most of the runs\n";
  for (const auto& [name, share] : shares) {
    const auto all = of_runs(runs_, share);
    out << "  " << std::left << std::setw(6) << name << ' ' << all.front()
        << " / " << part_of(all, 0.5) << " / " << all.back() << '\n';
  }
  return out.str();
}

double difference(const latency_figures& alone,
                  const latency_figures& company) {
  return (company.p99() / alone.p99() - 1) * 100;
}

machine_load::machine_load()
  : since_(std::chrono::steady_clock::now()), stolen_(stolen_time()) {
  // nop
}

std::string machine_load::text() const {
  std::ifstream in{"/proc/loadavg"};
  std::string one;
  std::string five;
  in >> one >> five;
  const std::chrono::duration<double> took
    = std::chrono::steady_clock::now() - since_;
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << took.count()
      << " s, load of the last minutes " << one << " and " << five
      << ", stolen " << static_cast<double>(stolen_time() - stolen_) * 10
      << " ms";
  return out.str();
}

} // namespace weir::tests

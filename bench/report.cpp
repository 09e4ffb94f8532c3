#include "bench/report.hpp"

#include "apps/demo/report.hpp"
#include "base/version.hpp"

#include <boost/json.hpp>

#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ostream>

namespace weir::bench {

namespace {

namespace json = boost::json;
using apps::grouped;

std::string grouped_rate(double x) {
  return grouped(static_cast<uint64_t>(std::llround(x)));
}

[[gnu::format(printf, 1, 2)]] std::string format(const char* layout, ...) {
  std::array<char, 512> line{};
  va_list arguments;
  va_start(arguments, layout);
  std::vsnprintf(line.data(), line.size(), layout, arguments);
  va_end(arguments);
  return line.data();
}

std::string part_of(double ceiling, double rate) {
  return ceiling > 0 ? format("%.1f%%", 100 * rate / ceiling) : "-";
}

std::string calibration_text(const calibration_pair& x) {
  return grouped_rate(x.before) + " / " + grouped_rate(x.after);
}

std::string drift_warning(const std::string& what, const calibration_pair& x) {
  return format("%s: the calibrations before and after differ by %.1f %%; the "
                "machine was not quiet",
                what.c_str(), x.drift_percent());
}

json::object head(const std::string& name, const machine_facts& machine,
                  const bench_options& options) {
  return {{"name", name},
          {"version", version()},
          {"machine", machine.processor},
          {"cores", machine.cores},
          {"extensions", machine.extensions},
          {"seed", options.seed},
          {"quick", options.quick}};
}

json::object to_json(const load_run& x, double ceiling) {
  json::object out{{"rate", x.rate},
                   {"seconds", x.seconds},
                   {"calibration_before", x.calibration.before},
                   {"calibration_after", x.calibration.after},
                   {"multiple", x.multiple()},
                   {"node_cpu_micros", x.node_micros},
                   {"outside_cpu_micros", x.outside_micros},
                   {"others_percent", x.others_percent},
                   {"delivered_per_second", x.delivered}};
  if (ceiling > 0)
    out["ratio_to_ceiling"] = x.rate / ceiling;
  return out;
}

} // namespace

void print_machine(const machine_facts& x, std::ostream& out) {
  out << "machine      " << x.processor << ", " << x.cores << " cores, "
      << x.extensions << "; weir " << version() << "\n"
      << "calibration  libsecp256k1 checks/s of one core, before / after each "
         "run\n";
}

void print(const load_result& x, std::ostream& out) {
  out << "\n"
      << x.name << ": " << grouped(x.corpus.accounts) << " repos, "
      << grouped(x.corpus.records) << " records, " << grouped(x.corpus.events)
      << " events, durable writes\n"
      << format("%5s %12s %8s %9s %9s %9s %9s %9s %8s   %s\n", "run",
                (x.unit + "/s").c_str(), "seconds", "x calibr", "of ceil",
                "node us", "world us", "acked/s", "others", "calibration");
  size_t number = 0;
  for (const auto& y : x.runs)
    out << format("%5zu %12s %8.2f %9.3f %9s %9.1f %9.1f %9s %7.1f%%   %s\n",
                  ++number, grouped_rate(y.rate).c_str(), y.seconds,
                  y.multiple(), part_of(x.ceiling_here(y), y.rate).c_str(),
                  y.node_micros, y.outside_micros,
                  grouped_rate(y.delivered).c_str(), y.others_percent,
                  calibration_text(y.calibration).c_str());
  const auto rates = x.rates();
  out << format("%5s %12s  MAD %.1f %%, accepted from %s\n", "mid.",
                grouped_rate(rates.median).c_str(), rates.mad_percent(),
                grouped_rate(x.ceiling.goal).c_str());
}

void print(const std::vector<micro_result>& x, std::ostream& out) {
  out << "\nmicro: CPU time of one core; speed is reference / time, the "
         "reference scaled by calibration\n"
      << format("%-16s %10s %7s %11s %7s   %-17s %s\n", "stage", "ns/op", "MAD",
                "reference", "speed", "calibration", "one operation");
  for (const auto& y : x)
    out << format("%-16s %10s %6.1f%% %11s %7.2f   %-17s %s\n", y.name.c_str(),
                  grouped_rate(y.nanos.median).c_str(), y.nanos.mad_percent(),
                  grouped_rate(y.reference_here()).c_str(), y.ratio(),
                  calibration_text(y.calibration).c_str(), y.what.c_str());
}

std::vector<std::string> warnings(const load_result& x) {
  std::vector<std::string> out;
  for (size_t i = 0; i < x.runs.size(); ++i) {
    const auto name = x.name + " run " + std::to_string(i + 1);
    if (x.runs[i].calibration.drifted())
      out.push_back(drift_warning(name, x.runs[i].calibration));
    if (x.runs[i].others_percent > others_percent_max)
      out.push_back(format("%s: other work took %.1f %% of the machine",
                           name.c_str(), x.runs[i].others_percent));
  }
  if (x.rates().mad_percent() > drift_percent_max)
    out.push_back(format("%s: the runs differ by %.1f %% (MAD)", x.name.c_str(),
                         x.rates().mad_percent()));
  return out;
}

std::vector<std::string> warnings(const std::vector<micro_result>& x) {
  std::vector<std::string> out;
  for (const auto& y : x)
    if (y.calibration.drifted())
      out.push_back(drift_warning("micro " + y.name, y.calibration));
  return out;
}

std::string json_line(const load_result& x, const machine_facts& machine,
                      const bench_options& options) {
  auto out = head(x.name, machine, options);
  const auto rates = x.rates();
  out["unit"] = x.unit + "/s";
  out["accounts"] = x.corpus.accounts;
  out["records"] = x.corpus.records;
  out["events"] = x.corpus.events;
  out["repeats"] = x.runs.size();
  out["median"] = rates.median;
  out["mad"] = rates.mad;
  out["quiet"] = warnings(x).empty();
  json::array runs;
  for (const auto& y : x.runs)
    runs.push_back(to_json(y, x.ceiling_here(y)));
  out["runs"] = std::move(runs);
  return json::serialize(out);
}

std::string json_line(const micro_result& x, const machine_facts& machine,
                      const bench_options& options) {
  auto out = head("micro." + x.name, machine, options);
  out["unit"] = "ns/op";
  out["median"] = x.nanos.median;
  out["mad"] = x.nanos.mad;
  out["reference"] = x.reference_here();
  out["ratio_to_reference"] = x.ratio();
  out["calibration_before"] = x.calibration.before;
  out["calibration_after"] = x.calibration.after;
  out["quiet"] = !x.calibration.drifted();
  return json::serialize(out);
}

} // namespace weir::bench

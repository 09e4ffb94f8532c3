#pragma once

#include "bench/load.hpp"
#include "bench/machine.hpp"
#include "bench/micro.hpp"

#include <iosfwd>
#include <string>

namespace weir::bench {

/// Prints a table for people, one part for each workload.
void print_machine(const machine_facts& x, std::ostream& out);
void print(const load_result& x, std::ostream& out);
void print(const std::vector<micro_result>& x, std::ostream& out);

/// Everything that makes a figure unfit for comparison, one line each. Empty
/// when the machine was quiet.
std::vector<std::string> warnings(const load_result& x);
std::vector<std::string> warnings(const std::vector<micro_result>& x);

/// One JSON object on one line, without the line end.
std::string json_line(const load_result& x, const machine_facts& machine,
                      const bench_options& options);
std::string json_line(const micro_result& x, const machine_facts& machine,
                      const bench_options& options);

} // namespace weir::bench

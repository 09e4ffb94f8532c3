#pragma once

#include "actors/identity/export_machine.hpp"
#include "actors/identity/limits.hpp"
#include "atproto/limits.hpp"

#include <gtest/gtest.h>

#include <map>

namespace weir::tests::exports {

using namespace std::chrono_literals;
using namespace weir::actors;

inline constexpr const char* plc_origin = "https://plc.test";
inline constexpr auto many = 10 * limits::export_wanted_min;

inline atproto::did exported_repo(uint64_t x) {
  return atproto::did::trusted("did:plc:e" + std::to_string(x));
}

inline atproto::exported_operation
operation_of(uint64_t number, uint64_t repo, const std::string& key = "zKey") {
  atproto::exported_operation out;
  out.number = number;
  out.id = "op" + std::to_string(number);
  out.repo = exported_repo(repo);
  out.doc.emplace();
  out.doc->signing_key = key;
  return out;
}

/// A directory with this number of operations, one for each DID, and a store.
class export_reader {
public:
  explicit export_reader(uint64_t operations,
                         export_options options = {plc_origin})
    : machine(std::move(options)) {
    for (uint64_t i = 1; i <= operations; ++i)
      log.push_back(operation_of(i, i));
  }

  void start() { take(machine.start()); }

  void look(size_t waiting = many, bool limited = false, bool room = true) {
    take(machine.look(waiting, limited, room, now, wall));
  }

  void take(export_machine::effects x) {
    last = x;
    if (!x.refused.empty())
      refusals.push_back(x.refused);
    whole = whole || x.whole;
    if (x.place || !x.rows.empty()) {
      for (auto& [repo, row] : x.rows)
        if (row)
          rows[repo.str()] = *row;
        else
          rows.erase(repo.str());
      if (x.place)
        place = *x.place;
      take(machine.on_durable(now));
    }
    if (x.list)
      list();
    if (x.ask && answers)
      answer(*x.ask);
  }

  void list() {
    std::vector<atproto::did> names;
    for (const auto& [name, row] : rows)
      if (names.size() < limits::export_names_page)
        names.push_back(atproto::did::trusted(name));
    take(machine.on_stored(place, names, now));
  }

  void answer(const export_machine::request& x) {
    asked.push_back(x);
    if (fails)
      return take(machine.on_failed(*std::exchange(fails, {}), now));
    std::vector<atproto::exported_operation> out;
    for (const auto& y : log)
      if (y.number > x.after && out.size() < std::min(x.lines, page_lines_max))
        out.push_back(y);
    take(machine.on_page(out, now));
  }

  /// Runs until no timer is set.
  void run(size_t wanted = many) {
    look(wanted);
    for (int i = 0; i < 100'000 && last.timer; ++i) {
      now = std::max(now, *last.timer);
      look(wanted);
    }
  }

  void pass(std::chrono::microseconds x) {
    now = now + x;
    wall = wall + x;
  }

  bool counts() const { return machine.as_of(wall).has_value(); }

  export_machine machine;
  std::vector<atproto::exported_operation> log;
  std::map<std::string, storage::identity_row> rows;
  storage::export_row place;
  std::vector<export_machine::request> asked;
  std::vector<std::string> refusals;
  std::optional<error> fails;
  size_t page_lines_max = limits::export_page_lines;
  bool answers = true;
  bool whole = false;
  export_machine::effects last;
  steady_time now{1'000'000'000};
  wall_time wall{1'700'000'000'000'000};
};

} // namespace weir::tests::exports

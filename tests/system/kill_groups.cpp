#include "tests/system/kill_groups.hpp"

namespace weir::tests {

std::ostream& operator<<(std::ostream& out, const kill_group& x) {
  return out << x.name;
}

const std::vector<kill_group>& kill_groups() {
  using namespace std::chrono_literals;
  using enum crash_point;
  static const std::vector<kill_group> all{
    {"starting",
     {{store_claimed}, {store_recovered}, {store_opened}, {filter_written}},
     true,
     trouble_kind::losses},
    {"fetching",
     {{import_chunk, 12},
      {spool_written, 3},
      {synced_batch, 6},
      {synced_written, 6},
      {listing_page, 2}},
     true},
    {"following",
     {{journal_batch, 40},
      {journal_written, 40},
      {journal_published, 40},
      {cursor_written, 2},
      {frame_taken, 60}}},
    {"erasing",
     {{erase_batch, 1, 20s},
      {erase_written, 1, 20s},
      {sweep_step, 1, 20s},
      {sweep_written, 1, 20s},
      {sweep_compacted, 1, 20s}},
     false,
     trouble_kind::usual,
     true},
    {"delivering",
     {{ack_taken, 40}, {ack_written, 40}, {journal_published, 40}},
     false, trouble_kind::losses},
    {"unresolved",
     {{frame_taken, 60}, {journal_written, 40}, {synced_batch, 6}},
     false, trouble_kind::silent_directory, false, false}};
  return all;
}

uint64_t enough_kills(const kill_group& x) noexcept {
  // Half of the kills strike at a random moment.
  constexpr uint64_t kills_a_point = 6;
  return kills_a_point * x.targets.size();
}

} // namespace weir::tests

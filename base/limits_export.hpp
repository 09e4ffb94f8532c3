#pragma once

#include <chrono>
#include <cstddef>

/// Reading the export of the directory of did:plc documents: all operations of
/// all DIDs in pages, instead of one document for each look-up
/// (docs/adr/0015-the-export-of-the-directory.md has the arithmetic).
namespace weir::limits {

using namespace std::chrono_literals;

/// Operations of a page: the most that a directory gives.
constexpr size_t export_page_lines = 1'000;
/// What a page may have. One operation is well below a kilobyte and 7,500 bytes
/// at most, as DAG-CBOR: a page of such ones is asked for in smaller pieces.
constexpr size_t export_page_bytes_max = 4'194'304;
constexpr auto export_page_timeout = 60s;
/// The smallest piece. Its operations fit, however large they are.
constexpr size_t export_page_lines_min = 60;
/// One operation, as JSON: twice the most that a directory takes.
constexpr size_t export_line_bytes_max = 32'768;

/// The export is read when so many names were looked up, at least, and not
/// fewer than so many for each page of it: a page is as many bytes as 300
/// documents or more, and a directory that gives 500 pages in five minutes
/// gives 300 documents in the time of a page.
constexpr size_t export_wanted_min = 1'000;
constexpr size_t export_wanted_per_page = 300;

/// Pages a second over the time, a little below the 500 in five minutes that
/// the public directory gives, and how many may come at once: the whole export
/// of a small network.
constexpr double export_pages_per_second = 1.5;
constexpr double export_pages_at_once = 50;

/// After a page that failed, or when the export is too long for what is wanted,
/// looked at again after the shortest pause, then after twice the last one, up
/// to the longest.
constexpr auto export_pause_min = 5min;
constexpr auto export_pause_max = 24h;
/// What was read to its end serves newcomers for so long: they have an older
/// document than by a look-up, and who moved since is looked for in the wrong
/// place. While many are wanted it is read on after this time, which is a page
/// or three on the public network.
constexpr auto export_fresh = 1h;
constexpr auto export_again = 10min;

/// DIDs that are asked for, or forgotten, in one turn of a READER.
constexpr size_t export_names_page = 1'000;

} // namespace weir::limits

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `atproto` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

// -- identifiers --------------------------------------------------------------

constexpr size_t did_bytes_max = 2048;
constexpr size_t handle_bytes_max = 253;
constexpr size_t nsid_bytes_max = 317;
constexpr size_t record_key_bytes_max = 512;
constexpr size_t mst_key_bytes_max = 1024;

/// Largest integer that JSON clients and stream cursors can hold: 2^53 - 1.
constexpr int64_t safe_integer_max = 9'007'199'254'740'991;
constexpr size_t label_bytes_max = 63; ///< Of a handle or an NSID's name.

// -- DRISL / DAG-CBOR ---------------------------------------------------------

/// A real PDS takes more than the guide's 32 (6.9); one word has a bit a level.
constexpr size_t cbor_depth_max = 63;

/// Where a caller names no depth: the guide's number.
constexpr size_t cbor_depth_default = 32;
constexpr size_t frame_depth_max = 8;
constexpr size_t cbor_container_max = 131'072;
constexpr size_t cbor_map_key_bytes_max = 8'192;
constexpr size_t cid_bytes_max = 100;

// -- CAR files ----------------------------------------------------------------

constexpr size_t car_header_bytes_max = 16'384;
constexpr size_t car_roots_max = 16;
constexpr size_t car_section_bytes_max = 2'097'152;
constexpr size_t frame_car_blocks_max = 10'000;

/// Taken slots that the look-up of a block may pass; more are contrived.
constexpr size_t car_probes_max = 64;
constexpr uint64_t repo_car_bytes_max = 1'073'741'824;
constexpr uint64_t repo_car_blocks_max = 20'000'000;

// -- repositories -------------------------------------------------------------

constexpr size_t mst_depth_max = 64;
constexpr size_t mst_node_entries_max = 8'192;
constexpr size_t mst_node_bytes_max = 1'048'576;
constexpr uint64_t repo_records_max = 10'000'000;

/// The guide says 1 MiB, the PDS 1,000,000; we accept the larger (11.9).
constexpr size_t record_bytes_max = 1'048'576;

// -- stream frames ------------------------------------------------------------

constexpr size_t commit_blocks_bytes_max = 2'000'000;
constexpr size_t commit_ops_max = 200;
constexpr size_t sync_blocks_bytes_max = 2'000'000;

/// A rev may be this far ahead of our wall clock (protocol-coverage.md 2.1.4).
constexpr auto rev_future_max = 5min;

// -- identity -----------------------------------------------------------------

constexpr size_t did_document_bytes_max = 131'072;
constexpr size_t did_document_depth_max = 16;
constexpr size_t did_document_entries_max = 64;

// -- codecs of atproto/ -------------------------------------------------------

/// Containers inside each other that no caller can exceed
/// (protocol-coverage.md 6.9).
constexpr size_t cbor_depth_hard_max = 128;

/// Of a map whose keys are out of order, where allowed: they are sorted aside.
constexpr size_t cbor_unsorted_entries_max = 64;

/// Bytes on either side of base58, which costs the square of its input.
constexpr size_t base58_bytes_max = 1'024;

/// Longest CID text the reference JSON parser takes (@atproto/lex-data 0.1).
constexpr size_t json_cid_text_max = 128;

// -- walking a repository export ----------------------------------------------

/// Blocks whose places are kept in memory, of so many bytes; more are spooled.
constexpr size_t walk_index_entry_bytes = 16;
constexpr size_t walk_index_entries_max = 1'048'576;

/// Places that are sorted at once; bounds the longest pause of a walk.
constexpr size_t walk_index_run_entries = 65'536;

/// One record block may stand at many paths. The bodies of a commit's or an
/// export's records may be this many times its own bytes, and no more, or one
/// block would fill the store.
constexpr uint64_t record_repeat_factor_max = 16;

/// Operations of a page: the most that a directory gives.
constexpr size_t export_page_lines = 1'000;

/// One operation, as JSON: twice the most that a directory takes.
constexpr size_t export_line_bytes_max = 32'768;

/// An #account or #identity: a DID, a time, a handle or a state, and room for
/// fields to come. A longer one is malformed.
constexpr size_t notice_frame_bytes_max = 65'536;

} // namespace weir::limits

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `atproto`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

// -- identifiers --------------------------------------------------------------

constexpr size_t did_bytes_max = 2048;
constexpr size_t handle_bytes_max = 253;
constexpr size_t nsid_bytes_max = 317;
constexpr size_t record_key_bytes_max = 512;
constexpr size_t mst_key_bytes_max = 1024;

/// The largest integer that JSON clients and stream cursors can represent: 2^53
/// - 1.
constexpr int64_t safe_integer_max = 9'007'199'254'740'991;
/// Longest label of a handle, or segment of an NSID.
constexpr size_t label_bytes_max = 63;

// -- DRISL / DAG-CBOR ---------------------------------------------------------

/// A real PDS accepts more than the 32 levels of the guide
/// (protocol-coverage.md 6.9). The JSON writer keeps one bit for each level in
/// a 64-bit word.
constexpr size_t cbor_depth_max = 63;

/// The guide's number, for callers that set no depth.
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

/// How many filled slots the look-up of a block may pass. Only digests that
/// were chosen on purpose need more.
constexpr size_t car_probes_max = 64;
constexpr uint64_t repo_car_bytes_max = 1'073'741'824;
constexpr uint64_t repo_car_blocks_max = 20'000'000;

// -- repositories -------------------------------------------------------------

constexpr size_t mst_depth_max = 64;
constexpr size_t mst_node_entries_max = 8'192;
constexpr size_t mst_node_bytes_max = 1'048'576;
constexpr uint64_t repo_records_max = 10'000'000;

/// The guide says 1 MiB, the PDS 1,000,000; we accept the larger
/// (protocol-coverage.md 11.9).
constexpr size_t record_bytes_max = 1'048'576;

// -- stream frames ------------------------------------------------------------

constexpr size_t commit_blocks_bytes_max = 2'000'000;
constexpr size_t commit_ops_max = 200;
constexpr size_t sync_blocks_bytes_max = 2'000'000;

/// A rev may be this far ahead of our clock (protocol-coverage.md 2.1.4).
constexpr auto rev_future_max = 5min;

// -- identity -----------------------------------------------------------------

constexpr size_t did_document_bytes_max = 131'072;
constexpr size_t did_document_depth_max = 16;
constexpr size_t did_document_entries_max = 64;

// -- codecs of atproto/ -------------------------------------------------------

/// The depth of nested containers that no caller can exceed
/// (protocol-coverage.md 6.9).
constexpr size_t cbor_depth_hard_max = 128;

/// Entries of a map whose keys are out of order, where that is allowed. They
/// have to be sorted, in a fixed array.
constexpr size_t cbor_unsorted_entries_max = 64;

/// Bytes on either side of base58, whose cost grows with the square of its
/// input.
constexpr size_t base58_bytes_max = 1'024;

/// The longest text of a CID that the reference JSON parser accepts
/// (@atproto/lex-data 0.1).
constexpr size_t json_cid_text_max = 128;

// -- walking a repository export ----------------------------------------------

/// Blocks whose places are kept in memory, with this many bytes for each. More
/// are spooled.
constexpr size_t walk_index_entry_bytes = 16;
constexpr size_t walk_index_entries_max = 1'048'576;

/// Places that are sorted at once. This limits the longest call of a walk.
constexpr size_t walk_index_run_entries = 65'536;

/// One record block may stand at many paths. The bodies of the records of a
/// commit or export may together have this many times its own bytes. Otherwise
/// a single block could fill the store.
constexpr uint64_t record_repeat_factor_max = 16;

/// Operations on a page, which is the most that a directory returns.
constexpr size_t export_page_lines = 1'000;

/// Bytes of one operation as JSON: twice the most that a directory accepts.
constexpr size_t export_line_bytes_max = 32'768;

/// An #account or #identity has a DID, a time, a handle or a state. The rest is
/// room for new fields. A longer frame is malformed.
constexpr size_t notice_frame_bytes_max = 65'536;

} // namespace weir::limits

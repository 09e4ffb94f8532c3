#pragma once

#include <cstddef>
#include <cstdint>

/// Limits of `storage/segments`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

/// A segment that is at least as large as this gets no further transaction: the
/// next one begins a new file. The last segment is read into memory as a whole
/// when a directory is opened.
constexpr uint64_t segment_bytes_max = 67'108'864;

/// Bytes of one encoded transaction: twice the content that it may have, which
/// leaves room for 256 names of records and collections.
constexpr size_t segment_frame_bytes_max = 16'777'216;

/// Distance of the places in a segment that are remembered, so that an
/// operation is found without reading the file from its beginning.
constexpr uint64_t segment_mark_bytes = 262'144;

/// Streams of one directory. The end of each is in memory, about 160 bytes.
constexpr size_t segment_streams_max = 4'194'304;

} // namespace weir::limits

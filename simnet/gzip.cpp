#include "simnet/gzip.hpp"

#include <cassert>
#include <limits>
#include <zlib.h>

namespace weir::simnet {

bytes gzip(bytes_view x) {
  constexpr int level = 1;
  constexpr int gzip_window = 15 + 16; // Largest window, with a gzip header.
  constexpr int memory = 8;
  assert(x.size() <= std::numeric_limits<uInt>::max());
  z_stream z{};
  if (deflateInit2(&z, level, Z_DEFLATED, gzip_window, memory,
                   Z_DEFAULT_STRATEGY)
      != Z_OK)
    return {};
  bytes out(deflateBound(&z, x.size()));
  z.next_in = const_cast<Bytef*>(x.data()); // An old interface; it only reads.
  z.avail_in = static_cast<uInt>(x.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

} // namespace weir::simnet

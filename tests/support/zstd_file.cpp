#include "tests/support/zstd_file.hpp"

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <zstd.h>

namespace weir::tests {

std::string read_zstd_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file)
    throw std::runtime_error{"cannot read " + path.string()};
  const std::string packed{std::istreambuf_iterator<char>{file}, {}};
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context{
    ZSTD_createDCtx(), &ZSTD_freeDCtx};
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::string out;
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  while (in.pos < in.size) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    const auto code = ZSTD_decompressStream(context.get(), &to, &in);
    if (ZSTD_isError(code))
      throw std::runtime_error{path.string() + ": " + ZSTD_getErrorName(code)};
    out.append(piece, 0, to.pos);
  }
  return out;
}

} // namespace weir::tests

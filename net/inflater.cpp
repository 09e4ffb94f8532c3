#include "net/inflater.hpp"

#include <zlib.h>

namespace weir::net {

struct inflater::state {
  z_stream stream{};
  bool ready = false;
};

inflater::inflater() : state_(std::make_unique<state>()) {
  constexpr int gzip_only = 16;
  state_->ready = inflateInit2(&state_->stream, MAX_WBITS + gzip_only) == Z_OK;
}

inflater::~inflater() {
  if (state_->ready)
    inflateEnd(&state_->stream);
}

result<inflater::step> inflater::run(bytes_view input,
                                     std::span<uint8_t> output) {
  if (done_)
    return input.empty()
             ? result<step>{step{}}
             : result<step>{fail(ec::malformed, "bytes behind the gzip end")};
  if (!state_->ready)
    return fail(ec::limit_reached, "zlib has no memory");
  auto& z = state_->stream;
  auto in = std::min<size_t>(input.size(), UINT32_MAX);
  auto out = std::min<size_t>(output.size(), UINT32_MAX);
  z.next_in = const_cast<Bytef*>(input.data());
  z.avail_in = static_cast<uInt>(in);
  z.next_out = output.data();
  z.avail_out = static_cast<uInt>(out);
  auto status = inflate(&z, Z_NO_FLUSH);
  done_ = status == Z_STREAM_END;
  // Z_BUF_ERROR only says that nothing more could be done this time.
  if (status != Z_OK && status != Z_BUF_ERROR && !done_)
    return fail(ec::malformed, "bad gzip data");
  return step{in - z.avail_in, out - z.avail_out};
}

} // namespace weir::net

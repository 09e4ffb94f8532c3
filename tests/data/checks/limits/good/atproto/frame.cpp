bool is_frame(size_t n) {
  return n <= limits::frame_bytes_max;
}

bool fits(size_t n) {
  return n <= limits::name_bytes_max && in(limits::pause_range);
}

auto wait = limits::answer_timeout;
auto most = limits::huge_max;
auto longest = limits::frame_bytes_max;
auto rest = limits::unseen_pause;

bool fits_log(size_t n) {
  return n <= limits::two_rooms_max && n <= limits::of_log_max;
}

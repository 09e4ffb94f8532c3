bool fits_log(size_t n) {
  return n <= limits::one_room_max;
}

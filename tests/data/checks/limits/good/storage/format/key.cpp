bool fits_key(size_t n) {
  return n <= limits::two_rooms_max;
}

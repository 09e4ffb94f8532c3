bool fits_app(size_t n) {
  return n <= limits::of_app_max;
}

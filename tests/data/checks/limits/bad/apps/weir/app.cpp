bool fits_app(size_t n) {
  return n <= limits::one_app_max;
}

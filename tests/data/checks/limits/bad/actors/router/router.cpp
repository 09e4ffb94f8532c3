bool fits_router(size_t n) {
  return n <= limits::one_actor_max;
}

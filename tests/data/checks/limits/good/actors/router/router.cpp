bool fits_router(size_t n) {
  return n <= limits::two_actors_max && n <= limits::router_max
         && n <= limits::events_standard && in(limits::events_range, n);
}

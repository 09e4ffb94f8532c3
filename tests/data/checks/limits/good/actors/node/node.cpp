bool fits_node(size_t n) {
  return n <= limits::two_actors_max && n <= limits::router_max
         && in(limits::events_range, n);
}

bool fits_node(size_t n) {
  return n <= limits::of_node_max;
}

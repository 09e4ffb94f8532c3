size_t router_of(uint64_t hash) {
  return hash % routers_each_;
}

part::part(int x) : x_(x) {}

int part::one() {
  return other::two(part::three());
}

const auto x = net::part::one(7);

struct part::impl {};

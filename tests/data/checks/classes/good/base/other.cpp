result<std::vector<int>>
other::two(int x) {
  return part::one();
}

const auto y = part::one();

const std::string&
part::two(int x,
          int y) {
}

void part::impl::three() noexcept {}

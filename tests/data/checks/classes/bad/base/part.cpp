part::~part() {}

int part::impl::one() {}

namespace weir {

/// 40 lines.
void most(int a,
          int b) {
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
  f();
}

/// Blocks and lambdas are no functions.
void blocks() {
  if (a()) {
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
  } else {
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
  }
  const auto x = [] {
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
  };
}

struct part {
  void inner() const {
    for (;;) {
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
      f();
    }
  }
};

/// The block in it is no function.
void many() {
  switch (x) {
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
  }
}

} // namespace weir

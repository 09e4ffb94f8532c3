namespace weir {

/// 41 lines.
result<void>
part::outer(int a,
            int b) const {
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

class part {
public:
  part()
    : a_(1), b_(2) {
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

private:
  struct deep {
    int many(int a) {
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
  };
};

} // namespace weir

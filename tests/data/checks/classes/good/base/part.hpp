class part {
  int inline_one() { return 1; }
  int one();
};

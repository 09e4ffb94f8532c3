int two() {
  return 2;
}

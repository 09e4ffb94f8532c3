int wide::two() {}

int wide::one() {}

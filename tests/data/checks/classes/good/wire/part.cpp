int part::one() {} // Of another folder.

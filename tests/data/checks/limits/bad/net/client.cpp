// limits::forgotten_max is only talked about.
bool fits(size_t n) {
  return n <= limits::kept_and_tested_max && n <= limits::only_kept_max
         && n <= limits::commented_max && n <= limits::said_twice_max
         && n <= limits::compared_max && n <= limits::compared_with_unset_max
         && n <= limits::scaled_max;
}

auto wait = limits::member_timeout;

bool fits_elsewhere(size_t n) {
  return n <= limits::one_folder_max && n <= limits::of_another_max;
}

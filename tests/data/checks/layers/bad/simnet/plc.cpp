#include "wire/tap.hpp"

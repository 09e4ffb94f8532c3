#include "tests/support/vectors.hpp"

#include <caf/typed_actor.hpp>

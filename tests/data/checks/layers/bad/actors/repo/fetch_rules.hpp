#include <caf/typed_actor.hpp>

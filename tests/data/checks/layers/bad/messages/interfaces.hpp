#include <caf/fwd.hpp>

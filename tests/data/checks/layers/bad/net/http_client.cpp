#include "atproto/cid.hpp"

#include <caf/fwd.hpp>

#include "messages/fwd.hpp"
#include "storage/dump.hpp"

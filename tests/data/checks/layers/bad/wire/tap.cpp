#include "messages/fwd.hpp"

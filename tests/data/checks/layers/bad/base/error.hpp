#include "clock.hpp"

#include <spdlog/spdlog.h>

#include "base/error.hpp"

#include <spdlog/spdlog.h>

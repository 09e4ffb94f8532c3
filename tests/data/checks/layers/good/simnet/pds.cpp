#include "base/error.hpp"

#include <boost/json.hpp>

#include <boost/json.hpp>
#include <caf/send.hpp>

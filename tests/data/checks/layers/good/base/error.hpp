#include <boost/system/result.hpp>

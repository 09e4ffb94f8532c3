#include <boost/beast.hpp>

#include <boost/asio/ip/address.hpp>

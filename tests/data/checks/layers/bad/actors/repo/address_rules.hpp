#include "net/http_client.hpp"
#include "net/ip_address.hpp"

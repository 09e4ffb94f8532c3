#include "net/ip_address.hpp"
#include "storage/format/repo_row.hpp"
#include "storage/log/limits.hpp"

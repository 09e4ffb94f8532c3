#include "storage/disk/database.hpp"

#include "storage/keys.hpp"

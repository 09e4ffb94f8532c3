#include "actors/repo/repo.hpp"
#include "storage/format/keys.hpp"

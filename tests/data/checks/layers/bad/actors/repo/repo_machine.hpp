#include "actors/repo/repo.hpp"
#include "storage/keys.hpp"

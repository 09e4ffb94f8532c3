#include "actors/repo/repo.hpp"

#include <leveldb/db.h>

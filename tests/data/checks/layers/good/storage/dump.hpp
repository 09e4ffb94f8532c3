#include <leveldb/db.h>

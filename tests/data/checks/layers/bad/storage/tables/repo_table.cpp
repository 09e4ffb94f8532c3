#include "storage/log/committer.hpp"
#include "storage/loose.hpp"

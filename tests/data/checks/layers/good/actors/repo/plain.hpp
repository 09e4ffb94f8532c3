#include "storage/format/repo_row.hpp"

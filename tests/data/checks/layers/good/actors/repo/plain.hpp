#include "storage/repo_row.hpp"

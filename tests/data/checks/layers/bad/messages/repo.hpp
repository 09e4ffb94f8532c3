#include "actors/repo/repo.hpp"

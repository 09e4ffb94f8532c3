#include "actors/repo/plain.hpp"

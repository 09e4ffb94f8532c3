#include "actors/repo/plain.hpp"
#include "actors/support/credit.hpp"
#include "messages/frames.hpp"

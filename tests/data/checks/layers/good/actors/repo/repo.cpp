#include "actors/repo/chain_machine.hpp"
#include "messages/fwd.hpp"

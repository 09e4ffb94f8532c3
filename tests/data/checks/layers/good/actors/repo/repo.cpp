#include "actors/repo/chain_machine.hpp"
#include "messages/interfaces.hpp"

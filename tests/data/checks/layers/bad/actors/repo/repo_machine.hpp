#include "actors/repo/repo.hpp"
#include "storage/log/committer.hpp"
#include "messages/interfaces.hpp"

#include "storage/keys.hpp"

#include <openssl/evp.h>

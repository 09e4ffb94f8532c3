#include "storage/format/keys.hpp"

#include <openssl/evp.h>

# Every foreign library of the project, from Debian 12's packages
# (packages.txt). A module links the ones its folder may touch.
#
#   CAF::core CAF::io CAF::openssl       Boost::headers Boost::json Boost::url
#   OpenSSL::SSL OpenSSL::Crypto         secp256k1::secp256k1
#   leveldb::leveldb                     cereal::cereal
#   spdlog::spdlog                       prometheus-cpp::core
#   tomlplusplus::tomlplusplus           CLI11::CLI11
#   Threads::Threads
find_package(Threads REQUIRED)
find_package(CAF 0.17.6 EXACT REQUIRED COMPONENTS core io openssl)
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS json url)
find_package(OpenSSL 3.0 REQUIRED)
find_package(secp256k1 0.2 REQUIRED)
find_package(leveldb 1.23 CONFIG REQUIRED)
find_package(cereal 1.3 CONFIG REQUIRED)
find_package(spdlog 1.10 CONFIG REQUIRED)
find_package(prometheus_cpp_core REQUIRED)
find_package(tomlplusplus 3.3 CONFIG REQUIRED)
find_package(CLI11 2.1 CONFIG REQUIRED)

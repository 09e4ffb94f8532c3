#!/usr/bin/env bash
# Builds the image of conf/Containerfile from the package and asserts what is in
# it (make check-image). As root, through sudo.
#
#   image.sh FILE.deb
#
# The base is not fetched from a registry: mmdebstrap makes a Debian 12 of the
# same packages.
set -euo pipefail
[ "$(id -u)" -eq 0 ] || exec sudo "$0" "$@"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
package=$(realpath "$1")
bytes_max=100000000
seconds_max=60 # Of a start or a stop; a hang, nothing else, takes that long.

work=$(mktemp -d)
mount -t tmpfs -o size=8g,mode=755 image-test "$work"
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
builder=(buildah --root "$work/store" --runroot "$work/run")
finish() {
  [ -z "${node_id:-}" ] || kill "$node_id" 2> /dev/null || true
  "${builder[@]}" umount --all > "$work/log" 2>&1 || true
  umount -l "$work" && rmdir "$work"
}
trap finish EXIT

passed=0
failed=0
# check WHAT COMMAND...: the command must succeed.
check() {
  local what=$1
  shift
  if "$@" > "$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $what"
  else
    failed=$((failed + 1))
    echo "FAILED  $what: $*"
    tail -n 20 "$work/log"
  fi
}
same() { [ "$1" = "$2" ] || { echo "\"$1\" is not \"$2\""; return 1; }; }

# of WHAT: what the image says of itself.
of() { "${builder[@]}" inspect --type image --format "{{.OCIv1.Config.$1}}" weir; }

echo "making the base and the image"
mkdir "$work/base"
mmdebstrap --variant=apt bookworm "$work/base/debian.tar" > "$work/log" 2>&1
printf 'FROM scratch\nADD debian.tar /\n' > "$work/base/Containerfile"
"${builder[@]}" build -q -t localhost/debian:12 "$work/base" > "$work/log" 2>&1
rm -r "$work/base"
"${builder[@]}" build -t weir --build-arg DEBIAN=localhost/debian:12 \
  -f "$here/../../conf/Containerfile" "$(dirname "$package")" \
  > "$work/log" 2>&1 || {
  tail -n 30 "$work/log" >&2
  exit 1
}

container=$("${builder[@]}" from --pull-never weir)
root=$("${builder[@]}" mount "$container")
bytes=$(du -sb "$root" | cut -f 1)
echo "the image has $bytes bytes"
check "it has less than $bytes_max bytes" test "$bytes" -lt "$bytes_max"
check "its user is not root" same "$(of User)" 2480:2480
check "it starts the node without a shell" same "$(of Entrypoint)" "[/usr/bin/weir run]"
check "it ends by SIGTERM" same "$(of StopSignal)" SIGTERM
check "the data is a volume" same "$(of Volumes)" "map[/data:{}]"
check "which is the user's alone" same "$(stat -c '%a %u:%g' "$root/data")" "700 2480:2480"
check "it has certificate authorities" \
  grep -q "BEGIN CERTIFICATE" "$root/etc/ssl/certs/ca-certificates.crt"
check "where OpenSSL looks for them" same \
  "$(readlink "$root/usr/lib/ssl/cert.pem")" /etc/ssl/certs/ca-certificates.crt
check "licenses are there" test -s "$root/usr/share/doc/libssl3/copyright"
same "$(find "$root" -type f -perm /111 -not -name '*.so*' -printf '%P\n')" \
  usr/bin/weir > "$work/log" 2>&1 && alone=true || alone=false
check "there is no other program" "$alone"

# below ID NAME: the process of this name that this one has started, or one of its
# own has.
below() {
  local child
  for child in $(cat /proc/"$1"/task/*/children 2> /dev/null); do
    if [ "$(cat "/proc/$child/comm")" = "$2" ]; then
      echo "$child"
    else
      below "$child" "$2"
    fi
  done
}

run() { "${builder[@]}" run "$@"; }
free=(--env WEIR_BIND=0.0.0.0:0 --env WEIR_OPERATIONS_BIND=0.0.0.0:0)
check "the program runs in it" same "$(run "$container" -- /usr/bin/weir version)" \
  "weir $(dpkg-deb -f "$package" Version)"
refused=0
run "${free[@]}" "$container" -- /usr/bin/weir run > "$work/said" 2>&1 || refused=$?
check "without a password it does not start" test "$refused" -ne 0
check "and says why" grep -q "/run/secrets/weir-password: cannot be read" "$work/said"

install -D -o 2480 -m 0400 <(echo "a password for the image") "$work/password"
coproc node {
  exec "${builder[@]}" run "${free[@]}" \
    -v "$work/password:/run/secrets/weir-password:ro" \
    "$container" -- /usr/bin/weir run 2> "$work/said"
}
node_id=$node_PID
ready=""
IFS= read -r -t "$seconds_max" ready <&"${node[0]}" || true
check "with one it is ready" same "${ready%%,*}" '{"ready":true'
check "on all addresses" grep -q '"operations":"http://0.0.0.0:' <(echo "$ready")
port=${ready##*'"operations":"http://0.0.0.0:'}
port=${port%%\"*}
answer=""
if exec 3<> "/dev/tcp/127.0.0.1/$port"; then
  printf 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
  IFS= read -r -t "$seconds_max" answer <&3 || true
fi
check "it answers" same "${answer%$'\r'}" "HTTP/1.1 200 OK"
weir_id=$(below "$node_id" weir)
check "as its user" same "$(stat -c %u "/proc/$weir_id")" 2480
ended=0
kill -TERM "${weir_id:?the node was not found}"
wait "$node_id" || ended=$?
check "it ends in order" same "$ended" 0

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

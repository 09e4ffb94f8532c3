#!/usr/bin/env bash
# Installs, upgrades and removes the package in a clean Debian 12 that boots its
# own systemd, and asserts what each step leaves (make check-package). As root,
# through sudo.
#
#   run.sh FILE.deb
#
# The clean system is made by mmdebstrap, holds nothing but the smallest Debian
# and systemd, and has no network while it runs: what the package needs is
# fetched before. inside.sh is what happens in it.
set -euo pipefail
[ "$(id -u)" -eq 0 ] || exec sudo "$0" "$@"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
package=$(realpath "$1")
version=$(dpkg-deb -f "$package" Version)
seconds_max=600 # A hang, nothing else, takes that long.

# apt asks for signatures as a user of its own, who writes there; where it may not,
# apt says that gpgv is missing.
[ "$(stat -c %a /dev/null)" = 666 ] || {
  echo "not everybody may write to /dev/null: chmod 666 /dev/null" >&2
  exit 1
}

# In memory: nothing here has to outlive a power failure, and waits for a disk.
# So large that the node finds its reserve of free room.
work=$(mktemp -d)
mount -t tmpfs -o size=8g,mode=755 package-test "$work"
trap 'umount "$work" && rmdir "$work"' EXIT
root=$work/root

# Packages of higher versions with other defaults in their configuration.
mkdir "$work/packages"
cp "$package" "$work/packages/$version.deb"
for next in 1 2; do
  dpkg-deb -R "$package" "$work/next"
  sed -i "s/^Version: .*/Version: $version+$next/" "$work/next/DEBIAN/control"
  echo "# As version $version+$next ships it." >> "$work/next/etc/weir/weir.toml"
  dpkg-deb --root-owner-group -Znone -b "$work/next" \
    "$work/packages/$version+$next.deb" > "$work/log"
  rm -rf "$work/next"
done

echo "making a clean Debian 12 (${SECONDS} s)"
mmdebstrap --variant=minbase --include=systemd,systemd-sysv \
  --skip=cleanup/apt,cleanup/reproducible \
  --customize-hook="APT_CONFIG=\$MMDEBSTRAP_APT_CONFIG apt-get install --yes \
    --no-install-recommends --download-only $package" \
  bookworm "$root" > "$work/log" 2>&1 || {
  tail -n 30 "$work/log" >&2
  exit 1
}
mkdir "$root/test"
cp "$here/inside.sh" "$work"/packages/*.deb "$root/test"
cat > "$root/etc/systemd/system/package-test.service" <<END
[Unit]
Description=The test of the package
SuccessAction=poweroff
FailureAction=poweroff
[Service]
Type=oneshot
Environment=VERSION=$version
ExecStart=/bin/bash /test/inside.sh
StandardOutput=append:/test/output
StandardError=inherit
END
ln -s ../package-test.service \
  "$root/etc/systemd/system/multi-user.target.wants/package-test.service"

echo "booting it (${SECONDS} s)"
timeout "$seconds_max" systemd-nspawn --directory="$root" --boot --register=no \
  --keep-unit --private-network --machine="weir-package-test-$$" \
  > "$work/log" 2>&1 || true
if ! [ -s "$root/test/output" ]; then
  tail -n 30 "$work/log" >&2
  exit 1
fi
cat "$root/test/output"
echo "after ${SECONDS} s:"
tail -n 1 "$root/test/output" | grep -E '^[0-9]+ passed, 0 failed$'

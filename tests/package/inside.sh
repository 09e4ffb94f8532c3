#!/usr/bin/env bash
# What run.sh lets happen inside the clean system. One line for each assertion,
# and a total at the end.
set -u
cd /test
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

passed=0
failed=0
did=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa
password=(--admin-password-file /etc/weir/password)

# check WHAT COMMAND...: the command must succeed.
check() {
  local what=$1 said
  shift
  if said=$("$@" 2>&1); then
    passed=$((passed + 1))
    echo "ok      $what"
  else
    failed=$((failed + 1))
    echo "FAILED  $what: $*"
    echo "$said" | tail -n 20
  fi
}

not() { ! "$@"; }
same() { [ "$1" = "$2" ] || { echo "\"$1\" is not \"$2\""; return 1; }; }
mode_of() { stat -c '%a %U:%G' "$1"; }
state_of() { systemctl show --property="$1" --value weir; }
apt() {
  apt-get -q -y -o Dpkg::Options::=--force-confold \
    -o Dpkg::Options::=--force-unsafe-io "$@"
}
tracks_repo() { weir repos list "${password[@]}" | grep -q "$did"; }
says_reloaded() { journalctl -u weir | grep -q '"reloaded",.*"password":"changed"'; }
works_with_password() { weir repos list "${password[@]}"; }

answers() {
  local line
  exec 3<> /dev/tcp/127.0.0.1/2481 || return 1
  printf 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
  IFS= read -r line <&3
  exec 3>&-
  [[ $line == "HTTP/1.1 200"* ]] || { echo "$line"; return 1; }
}

# Ready, as the user weir, and it answers. The manager was told so.
runs() {
  same "$(state_of ActiveState) $(state_of SubState)" "active running" &&
    same "$(stat -c %U "/proc/$(state_of MainPID)")" weir &&
    same "$(state_of StatusText)" \
      "answers at http://127.0.0.1:2480 and http://127.0.0.1:2481" &&
    answers
}

rests() { same "$(state_of ActiveState) $(state_of Result)" "inactive success"; }

# Again and again until it is so; nothing tells the moment.
becomes() {
  local tries
  for tries in {1..100}; do
    "$@" && return
    sleep 0.2
  done
  return 1
}

echo "-- install"
check "nothing of it is there before" not getent passwd weir
check "the package installs" apt install "/test/$VERSION.deb"
check "the program is there" same "$(weir version)" "weir $VERSION"
check "it finds all its libraries" not grep -q "not found" <(ldd /usr/bin/weir)
check "it has no symbols" not grep -q '\.symtab' /usr/bin/weir
check "a user without a shell" grep -q '^weir:.*:/var/lib/weir:/usr/sbin/nologin$' /etc/passwd
check "the data is the user's alone" same "$(mode_of /var/lib/weir)" "700 weir:weir"
check "the configuration is open" same "$(mode_of /etc/weir/weir.toml)" "644 root:root"
check "the password is not" same "$(mode_of /etc/weir/password)" "640 root:weir"
check "it has a length" same "$(wc -c < /etc/weir/password)" 33
check "the configuration is good" weir config check /etc/weir/weir.toml
for page in man1/weir.1 man5/weir.toml.5; do
  check "manual page $page" zgrep -q '^.SH DESCRIPTION' "/usr/share/man/$page.gz"
done
check "completion can be read" bash -n /usr/share/bash-completion/completions/weir
check "the benchmark is there" test -x /usr/bin/weir-bench
check "documents are there" test -s /usr/share/doc/weir/docs/operations.md
check "the license is" grep -q "MIT License" /usr/share/doc/weir/copyright

echo "-- the service"
check "systemd finds nothing wrong" same "" \
  "$(systemd-analyze verify --man=no /lib/systemd/system/weir.service 2>&1)"
check "its exposure is below 2 of 10" \
  systemd-analyze security --no-pager --threshold=20 weir.service
check "it starts with the machine" same "$(systemctl is-enabled weir)" enabled
check "it runs" runs
check "it asks for a password" not weir repos list
check "the password is right" works_with_password
check "it takes a repo" weir repos add "${password[@]}" "$did"
check "and knows it" tracks_repo
echo "another password that is long enough" > /etc/weir/password
check "it does not know that password" not works_with_password
check "it reloads" systemctl reload weir
check "and says so" becomes says_reloaded
check "and knows it then" works_with_password
check "it runs" runs
check "it stops" systemctl stop weir
check "in order" rests
check "it starts" systemctl start weir
check "it runs" runs

echo "-- upgrade"
old=$(state_of MainPID)
check "a higher version installs" apt install "/test/$VERSION+1.deb"
check "it was started anew" not same "$(state_of MainPID)" "$old"
check "it runs" runs
check "its configuration is the new one" grep -q "version $VERSION+1" /etc/weir/weir.toml
check "it has kept its repo" tracks_repo
echo 'log_level = "debug"' >> /etc/weir/weir.toml
cp /etc/weir/weir.toml edited.toml
check "a version after that installs" apt install "/test/$VERSION+2.deb"
check "what was edited stays" cmp edited.toml /etc/weir/weir.toml
check "the new one lies beside it" grep -q "version $VERSION+2" /etc/weir/weir.toml.dpkg-dist
check "it runs" runs
check "it has kept its password" works_with_password
check "it is disabled" systemctl disable --now weir
check "the same version installs" apt install --reinstall "/test/$VERSION+2.deb"
check "it stays disabled" same "$(systemctl is-enabled weir)" disabled
check "and is not started" rests
check "it is enabled" systemctl enable --now weir
check "it runs" runs

echo "-- remove"
check "it is removed" apt remove weir
check "the program is gone" not test -e /usr/bin/weir
check "the unit is gone" not test -e /lib/systemd/system/weir.service
check "nobody answers" not answers
check "no process is left" not grep -qsx weir /proc/[0-9]*/comm
check "the data stays" test -s /var/lib/weir/CURRENT
check "it is the user's alone" same "$(mode_of /var/lib/weir)" "700 weir:weir"
check "what was edited stays" cmp edited.toml /etc/weir/weir.toml
check "the password stays" test -s /etc/weir/password
check "it comes back" apt install "/test/$VERSION+2.deb"
check "it runs" runs
check "with its repo" tracks_repo

echo "-- purge"
check "it is purged" apt purge weir
check "the data is gone" not test -e /var/lib/weir
check "the configuration is gone" not test -e /etc/weir
check "systemd knows nothing of it" same "$(state_of LoadState)" not-found
check "no link of it is left" same "" \
  "$(find /etc/systemd /var/lib/systemd -name '*weir*' 2> /dev/null)"
check "the user stays" getent passwd weir

if [ "$failed" -gt 0 ]; then
  journalctl --no-pager -u weir -n 50 || true
fi
echo "$passed passed, $failed failed"

# SPDX-License-Identifier: Apache-2.0
# The life of an installation: install, configure, call, upgrade, downgrade, remove, purge; sourced by Tests/Package/run.

# Where the PBX of a call waits.
PBX_ADDRESS=192.0.2.20 PBX_PORT=5060

# pbx_waits: the PBX's side of a call, which checks name and logo.
pbx_waits() {
    bg pbx sipp -sf "$ROOT/Tests/Scenarios/answered/pbx.xml" -i "$PBX_ADDRESS" -p "$PBX_PORT" -nostdin -m 1 -timeout 60 -timeout_error \
        -key called +61255502000 -key name "Harbour Dental" -trace_err -error_file "$LOG/pbx.errors"
    wait_port 5 "src $PBX_ADDRESS:$PBX_PORT"
}

carrier_calls() {
    in_ns timeout 90 sipp 192.0.2.10:5060 -sf "$1" -i 203.0.113.5 -p 5060 -nostdin -m 1 -timeout 60 -timeout_error \
        -key caller +61491570157 -key called +61255502000 -trace_err -error_file "$LOG/carrier.errors" >"$LOG/carrier.log" 2>&1
}

# branded_call: a short call. Both sides of SIPp check what they see.
branded_call() {
    local status=0 pbx
    rm -f "$LOG"/{pbx,carrier}.errors
    pbx_waits || return 1
    pbx=$(cat "$RUN/pbx.pid")
    carrier_calls "$ROOT/Tests/Scenarios/answered/carrier.xml" || status=$?
    for _ in $(seq 50); do kill -0 "$pbx" 2>/dev/null || break; sleep 0.1; done
    head -qn 3 "$LOG"/{pbx,carrier}.errors 2>/dev/null | cut -c 1-300 >&2 || true
    stop pbx
    [ "$status" -eq 0 ] && [ ! -s "$LOG/pbx.errors" ]
}

main_pid() { inside systemctl show -p MainPID --value "$1"; }

# calls FILTER...: how many calls the ledger lists.
calls() { inside sudo -u herald herald calls --limit 1000 --json "$@" | grep -c '^{' || true; }

calls_at_least() {
    local _ wanted=$1
    shift
    for _ in $(seq 50); do [ "$(calls "$@" 2>/dev/null || echo 0)" -lt "$wanted" ] || return 0; sleep 0.2; done
    inside sudo -u herald herald calls >&2
    return 1
}

# readme MARK...: runs the commands of README.md in the tree.
readme() {
    "$PACKAGE_TESTS/readme.py" "$ROOT/README.md" "Your own trunk and PBX" "$@" >"$TREES/commands.sh"
    { echo 'set -eo pipefail'; cat "$TREES/commands.sh"; } | inside bash >"$LOG/readme.log" 2>&1 || { tail -n 8 "$LOG/readme.log"; return 1; }
}

lines_end_with() { [ "$(tail -n 1 <<<"$2")" = "$1" ]; }

packages_of() { printf '/packages/%s/%s\n' "$1" "$(ls "$TREES/packages/$1" | grep "^$2_")"; }
all_of() { packages_of "$1" herald-common; packages_of "$1" herald; packages_of "$1" herald-directory; }

install_fresh() {
    apt update || fail "apt has no archive; see $LOG/apt.log"
    ok "the version before installs by apt, with all it needs" apt install $(all_of '~before')
    ok "apt prints what to do next" apt_said "the gateway starts when it has a configuration"
    ok "no unit has failed" lines_end_with "0" "$(inside systemctl list-units --failed --no-legend | wc -l)"
    ok "the gateway is enabled" inside_says enabled systemctl is-enabled herald
    ok "the gateway is not started without a configuration" is inactive herald
    ok "systemctl start explains it" inside_says "ConditionPathExists=/etc/herald/herald.yaml was not met" \
        sh -c 'systemctl start herald; systemctl status herald'
    ok "the directory runs" is active herald-directory
    ok "the units are sound" eval '! inside systemd-analyze verify /lib/systemd/system/herald{,-directory}.service 2>&1 | grep .'
    ok "no library of the programs is missing" \
        eval '! inside ldd /usr/bin/herald /usr/bin/herald-directory /usr/libexec/herald-scale-logo \
            /usr/libexec/herald-directory/herald-scale-logo | grep "not found"'
    ok "the folder of the configuration is root's, for the group herald" owned "root:herald 750" /etc/herald
    ok "the configuration of the directory is root's, for the group herald" \
        owned "root:herald 640" /etc/herald/herald-directory.yaml
    ok "the state of the directory is herald's" owned "herald:herald 750" /var/lib/herald-directory
    ok "the user has no shell" inside_says "/usr/sbin/nologin" getent passwd herald
}

follow_readme() {
    ok "README.md: the sample brands are imported, and the gateway has its key" readme "**2."
    ok "README.md: the gateway has its configuration" readme "**3."
    ok "README.md: the configuration is sound, and the gateway starts" readme "**4."
    ok "the gateway runs" is active herald
    ok "its key is closed to other users" owned "root:herald 640" /etc/herald/api-key
    ok "the state of the gateway is herald's" owned "herald:herald 750" /var/lib/herald
    ok "the logos are ready" inside bash -c 'for i in {1..60}; do herald logos 2>/dev/null | grep "^ready.*harbour" && exit; sleep 1; done; exit 1'
    # The PBX of the test is there for its calls only, and does not respond to OPTIONS.
    inside sed -i 's/192.0.2.20:5060}/192.0.2.20:5060, probe: false}/' /etc/herald/herald.yaml
    ok "a reload takes a changed file" inside systemctl reload herald
}

# takes_picture NAME FILE: the running directory decodes a picture, with the program and the libraries of its package.
takes_picture() {
    local status
    status=$(in_ns curl -s -m 30 -o "$LOG/picture.json" -w '%{http_code}' -X PUT -H "X-Admin-Key: $admin_key" \
        --data-binary "@$2" "http://127.0.0.1:8088/admin/v1/logos/$1")
    [ "$status" = 200 ] || { echo "      $status $(head -c 500 "$LOG/picture.json")" >&2; return 1; }
}

pictures() {
    local admin_key
    admin_key=$(inside sudo -u herald herald-directory admin-keys add pictures --config /etc/herald/herald-directory.yaml)
    ok "the directory takes a WebP" takes_picture package-webp.png "$ROOT/Tests/Fuzz/seeds/pictures/alpha-webp"
    ok "the directory takes a HEIC" takes_picture package-heic.png "$ROOT/Tests/Fuzz/seeds/pictures/alpha-heic"
    inside sudo -u herald herald-directory admin-keys remove pictures --config /etc/herald/herald-directory.yaml >/dev/null
}

first_call() {
    ok "a call shows the brand and its logo" branded_call
    ok "the ledger has the call as answered" calls_at_least 1 --outcome answered
}

# second_instance: the commands of the page as printed.
second_instance() {
    "$PACKAGE_TESTS/readme.py" "$ROOT/docs/install.md" "Several gateways on one machine" >"$TREES/commands.sh"
    { echo 'set -eo pipefail'; cat "$TREES/commands.sh"; } | inside bash >"$LOG/instance.log" 2>&1
}

instance() {
    ok "docs/install.md: a second gateway starts" second_instance
    ok "it runs beside the first" is active herald@branch
    ok "its state is its own" owned "herald:herald 750" /var/lib/herald-branch
    ok "its configuration is root's, for the group herald" owned "root:herald 640" /etc/herald/branch.yaml
}

upgrade_during_call() {
    local before after status=0 carrier scenario=$TREES/long-call.xml instance
    sed 's/milliseconds="8000"/milliseconds="30000"/' "$ROOT/Tests/Scenarios/long-call/carrier.xml" >"$scenario"
    inside sh -c 'echo "# of the operator" >>/etc/herald/herald-directory.yaml'
    before=$(main_pid herald)
    instance=$(main_pid herald@branch)
    rm -f "$LOG"/{pbx,carrier}.errors
    pbx_waits || true
    carrier_calls "$scenario" &
    carrier=$!
    ok "a call is open" calls_at_least 1 --outcome open
    ok "the packages upgrade by apt" apt install $(all_of now)
    ok "the upgrade ends during the call" kill -0 "$carrier"
    after=$(main_pid herald)
    ok "the gateway runs" is active herald
    ok "the upgrade restarted the gateway" [ "$before" != "$after" ]
    ok "the process is the program of the package" lines_end_with /usr/bin/herald "$(inside readlink "/proc/$after/exe")"
    ok "the upgrade restarted the second gateway" [ "$instance" != "$(main_pid herald@branch)" ]
    ok "the second gateway runs" is active herald@branch
    ok "the directory runs" is active herald-directory
    wait "$carrier" || status=$?
    head -qn 3 "$LOG"/{pbx,carrier}.errors 2>/dev/null | cut -c 1-300 >&2 || true
    ok "the open call goes on over the upgrade, to its BYE" [ "$status" -eq 0 ]
    stop pbx
    ok "the ledger has both calls as answered" calls_at_least 2 --outcome answered
    ok "the configuration keeps the operator's line" inside grep -q "of the operator" /etc/herald/herald-directory.yaml
    ok "and its owner" owned "root:herald 640" /etc/herald/herald-directory.yaml
    ok "a call shows the brand after the upgrade" branded_call
    ok "tables of the gateway are those of the package" \
        tables_match "$TREE/var/lib/herald/herald.sqlite" "$TREE/usr/share/herald/herald.tables"
    ok "tables of the directory are those of the package" \
        tables_match "$TREE/var/lib/herald-directory/directory.sqlite" "$TREE/usr/share/herald/herald-directory.tables"
}

upgrade_with_error() {
    local before
    before=$(main_pid herald)
    inside sed -i 's/^trunks:/trunk:/' /etc/herald/herald.yaml
    ok "a configuration with an error does not stop an upgrade" apt install --reinstall $(all_of now)
    ok "apt prints the error" apt_said "herald.yaml:"
    ok "apt prints that the previous version goes on" apt_said "herald.service was not restarted"
    ok "the gateway was not restarted" [ "$before" = "$(main_pid herald)" ]
    ok "calls go on" branded_call
    inside sed -i 's/^trunk:/trunks:/' /etc/herald/herald.yaml
}

downgrade() {
    local before
    ok "a version with the same tables is replaced by the one before" apt install --allow-downgrades $(all_of '~before')
    ok "a later version with other tables installs" apt install $(all_of '+later')
    before=$(main_pid herald)
    ok "the version before does not replace it" eval "! apt install --allow-downgrades $(all_of now | paste -sd ' ')"
    ok "the message names the reason" apt_said "(unknown to $VERSION: ledger of a later version). Nothing was changed."
    ok "the message names the remedy" apt_said "Install $NUMBER+later-1 or later."
    ok "the later version is still installed" inside_says "ii $NUMBER+later-1" dpkg-query -W -f '${db:Status-Abbrev}${Version}\n' herald
    ok "dpkg has no half-installed package" lines_end_with "" "$(inside dpkg --audit)"
    ok "the gateway ran on" [ "$before" = "$(main_pid herald)" ]
    ok "the directory runs" is active herald-directory
    ok "a call shows the brand" branded_call
    # The remedy of the message, for each state it names.
    inside systemctl stop herald
    inside mv /var/lib/herald /var/lib/herald.later
    ok "the second gateway has a message of its own" eval "! apt install --allow-downgrades $(all_of now | paste -sd ' ')"
    ok "it names its unit" apt_said "systemctl stop herald@branch"
    inside systemctl stop herald@branch
    inside mv /var/lib/herald-branch /var/lib/branch.later
    ok "without the later state the version before installs" apt install --allow-downgrades $(all_of now)
    inside sh -c 'systemctl stop herald; rm -rf /var/lib/herald; mv /var/lib/herald.later /var/lib/herald
        mv /var/lib/branch.later /var/lib/herald-branch'
    ok "the later version takes its state again" apt install $(all_of '+later')
    inside systemctl start herald herald@branch
    ok "the gateway runs" is active herald
}

remove_and_return() {
    ok "the packages are removed" apt remove herald herald-directory herald-common
    ok "programs and units are gone" absent /usr/bin/herald /usr/bin/herald-directory /lib/systemd/system/herald.service
    ok "nothing of herald runs" eval '! inside find /proc -maxdepth 1 -user herald | grep .'
    ok "configuration and state stay" inside test -e /etc/herald/herald.yaml -a -e /etc/herald/api-key -a \
        -e /etc/herald/herald-directory.yaml -a -e /var/lib/herald/herald.sqlite -a -e /var/lib/herald-directory/directory.sqlite
    ok "an older version does not take the state of the removed one" eval "! apt install $(all_of now | paste -sd ' ')"
    ok "the message names the removed version" apt_said "unknown to $VERSION: the tables of $NUMBER+later-1"
    ok "the removed version installs again" apt install $(all_of '+later')
    ok "the gateway runs again" is active herald
    ok "the directory runs again" is active herald-directory
    ok "the calls are still listed" calls_at_least 4 --outcome answered
    ok "a call shows the brand" branded_call
}

purge() {
    ok "the packages are purged" apt purge herald herald-directory herald-common
    ok "configuration and key are gone" absent /etc/herald/herald.yaml /etc/herald/herald-directory.yaml /etc/herald/api-key
    ok "state is gone" absent /var/lib/herald /var/lib/herald-directory /run/herald
    ok "configuration and state of the second gateway stay" \
        inside test -e /etc/herald/branch.yaml -a -e /var/lib/herald-branch/herald.sqlite
    ok "nothing of the packages is left" eval '! inside find /usr /lib/systemd /etc -path "*herald*" -not -path "/etc/herald*" | grep -v /etc/passwd'
    ok "systemd knows no unit" inside_says "could not be found" systemctl status herald
    ok "the user stays, without a shell" inside_says "/usr/sbin/nologin" getent passwd herald
    inside rm -rf /etc/herald/branch.yaml /var/lib/herald-branch
    ok "the version before installs after a purge" apt install $(all_of '~before')
    ok "a second purge leaves no folder" apt purge herald herald-directory herald-common
    ok "/etc/herald is gone" absent /etc/herald
}

# by_hand FIRST [LAST]: the line of the page that contains FIRST, and those after it to the one that contains LAST.
by_hand() {
    "$PACKAGE_TESTS/readme.py" "$ROOT/docs/install.md" "By hand" | sed -n "\\|$1|${2:+,\\|$2|}p" >"$TREES/commands.sh"
    [ -s "$TREES/commands.sh" ] || return 1
    { echo 'set -e; cd /packages/source'; cat "$TREES/commands.sh"; } | inside bash >"$LOG/by-hand.log" 2>&1 \
        || { tail -n 8 "$LOG/by-hand.log" | sed 's/^/      /'; return 1; }
}

hand_made() {
    local source=$TREES/packages/source
    rm -rf "$source"
    mkdir -p "$source/.build-release/release"
    cp -r "$ROOT/Config" "$ROOT/Deploy" "$source"
    cp "$TREES"/unpacked/usr/bin/herald* "$TREES"/unpacked/usr/libexec/herald-scale-logo "$source/.build-release/release"
    inside userdel herald
    ok "docs/install.md: the installation by hand runs as printed" by_hand "cd .build-release" "enable --now herald-directory"
    ok "the directory runs" is active herald-directory
    ok "README.md: brands, key and configuration" readme "**2." "**3."
    ok "docs/install.md: the gateway starts" by_hand "enable --now herald$"
    ok "the gateway runs" is active herald
    ok "a reload works" inside systemctl reload herald
    ok "docs/install.md: the removal by hand runs as printed" by_hand "systemctl disable" "userdel"
    ok "nothing of it is left" eval '! inside find /usr /etc /var/lib -name "*herald*" | grep .'
}

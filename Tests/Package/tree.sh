# SPDX-License-Identifier: Apache-2.0
# A fresh Debian 12 that runs under systemd in a container; sourced by Tests/Package/run.

TREE=$TREES/tree
leader=
container=

# base_tree: Debian's smallest tree with systemd, and sudo for the commands of README.md. It is made once.
base_tree() {
    [ ! -e "$TREES/base.done" ] || return 0
    rm -rf --one-file-system "$TREES/base"
    # Its hooks mount /proc in the tree, and these mounts end with the namespace.
    unshare -m debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,sudo,init-system-helpers bookworm \
        "$TREES/base" "$(archive_of_apt)" >"$LOG/debootstrap.log" 2>&1 || { tail -n 5 "$LOG/debootstrap.log"; return 1; }
    rm -f "$TREES"/base/var/cache/apt/archives/*.deb
    touch "$TREES/base.done"
}

# fresh_tree: a copy of the base tree.
fresh_tree() {
    base_tree || fail "debootstrap made no tree; see $LOG/debootstrap.log"
    rm -rf --one-file-system "$TREE"
    cp -a --one-file-system "$TREES/base" "$TREE"
    cp -L /etc/resolv.conf "$TREE/etc/resolv.conf"
    mkdir -p "$TREE/packages"
    printf '127.0.0.1 localhost fresh\n' >"$TREE/etc/hosts"
    echo fresh >"$TREE/etc/hostname"
}

# boot_tree: starts systemd in the tree. Its network has loopback and the addresses of README.md.
boot_tree() {
    local address options=(--bind="$TREES/archives:/var/cache/apt/archives" --bind-ro="$TREES/packages:/packages")
    # Debug programs load the Swift libraries of the toolchain.
    [ -z "${SWIFT_LIBRARIES:-}" ] || options+=(--bind-ro="$SWIFT_LIBRARIES")
    systemd-nspawn -q -D "$TREE" --hostname=fresh --private-network --register=no --keep-unit --link-journal=no --console=pipe \
        "${options[@]}" -b </dev/null >"$LOG/boot.log" 2>&1 9>&- &
    container=$!
    for _ in $(seq 300); do
        leader=$(pgrep -P "$container" | head -n 1) || true
        [ -z "$leader" ] || ! inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded' || break
        sleep 0.2
    done
    inside systemctl is-system-running | grep -qE 'running|degraded' || fail "systemd does not start; see $LOG/boot.log"
    ip netns attach "$NETNS" "$leader"
    for address in 192.0.2.10 192.0.2.20 203.0.113.5; do ip -n "$NETNS" address add "$address/32" dev lo; done
}

# halt_tree: ends the container.
halt_tree() {
    [ -z "$container" ] || { kill -KILL "$leader" 2>/dev/null || true; wait "$container" 2>/dev/null || true; }
    container='' leader=''
    ip netns delete "$NETNS" 2>/dev/null || true
}

# inside COMMAND...: a command in the tree, with the network of the tree.
inside() { nsenter -t "$leader" -m -u -i -n -p -r -w env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }

# apt COMMAND...: apt-get in the tree, with the network of the machine; the output goes to $LOG/apt.log.
apt() {
    nsenter -t "$leader" -m -u -i -p -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
        apt-get -q -y -o APT::Install-Recommends=false -o APT::Keep-Downloaded-Packages=true "$@" >"$LOG/apt.log" 2>&1 9>&-
}

# inside_says TEXT COMMAND...: true if the output of a command in the tree has TEXT.
inside_says() {
    local text=$1 said
    shift
    said=$(inside "$@" 2>&1) || true
    grep -qF -- "$text" <<<"$said" || { printf '      %s: %s\n' "$*" "$said" >&2; return 1; }
}

# apt_said TEXT: true if the last apt printed TEXT.
apt_said() { grep -qF -- "$1" "$LOG/apt.log" || { tail -n 15 "$LOG/apt.log" | sed 's/^/      /' >&2; return 1; }; }

# owned "USER:GROUP MODE" PATH: true if a path of the tree has this owner and mode.
owned() { inside_says "$1" stat -c '%U:%G %a' "$2"; }

# absent PATH...: true if the tree has none of the paths.
absent() {
    local path
    for path in "$@"; do inside test ! -e "$path" || { echo "      $path is there" >&2; return 1; }; done
}

# is STATE UNIT: true within ten seconds if systemd reports the state.
is() {
    local _
    for _ in $(seq 50); do
        [ "$(inside systemctl is-active "$2" 2>/dev/null || true)" != "$1" ] || return 0
        sleep 0.2
    done
    inside systemctl status --no-pager -n 8 "$2" 2>&1 | sed 's/^/      /' >&2 || true
    return 1
}

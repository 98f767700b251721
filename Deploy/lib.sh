# SPDX-License-Identifier: Apache-2.0
# Shell functions of the scripts in Deploy and Tests; sourced, never run.

readonly ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# The programs that Deploy/release builds.
readonly RELEASE=$ROOT/.build-release/release
# The test programs in Python are packages in Tests: python3 -m heraldtest.demo, Scenarios, Bench.
export PYTHONPATH=$ROOT/Tests PYTHONDONTWRITEBYTECODE=1

# Debian 12 packages that an unpacked Swift toolchain needs to start, to fetch packages and to link.
readonly SWIFT_PACKAGES=(binutils ca-certificates g++ git libcurl4 libncurses6 libsqlite3-0 libxml2 tzdata)
# Debian packages that building and testing need beside a Swift toolchain.
readonly BUILD_PACKAGES=(git g++ pkg-config libicu-dev libosip2-dev libphonenumber-dev libsqlite3-dev libgd-dev libwebp-dev libavif-dev
    libheif-dev libde265-dev libpq-dev librdkafka-dev libsystemd-dev zlib1g-dev)
# Deploy/package; lintian checks what it builds.
readonly PACKAGE_PACKAGES=(dpkg-dev binutils python3)
# Deploy/image.
readonly IMAGE_PACKAGES=(apt debian-archive-keyring dpkg mmdebstrap python3 util-linux)
# Deploy/sign.
readonly SIGN_PACKAGES=(gpg gpg-agent gpgv)
readonly RUN_PACKAGES=(sip-tester python3 openssl)
# promtool; the package would start a server.
readonly MONITORING_PACKAGES=(prometheus)
# The server of Deploy/postgres; install it `without_services`, because the package would start a server of the system.
readonly DATABASE_PACKAGES=(postgresql openssl procps)
readonly BENCH_PACKAGES=(gcc libc6-dev liburing-dev binutils iproute2)
readonly BENCH_PEER_PACKAGES=(kamailio kamailio-sqlite-modules)

# A crashing program must not sit in the backtracer for minutes.
export SWIFT_BACKTRACE=enable=no

fail() {
    echo "error: $*" >&2
    exit 1
}

# usage [STATUS]: prints the usage in the head of the running script, from its third line to the first line of code, and ends it
# with STATUS, or with 2.
usage() {
    sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit "${1:-2}"
}

# Every program of Deploy explains itself, and ends with 0.
case $(basename "$(cd "$(dirname "$0")" && pwd)")/${1:-} in Deploy/-h | Deploy/--help) usage 0 ;; esac

# count PASSED FAILED: prints the last line of a test program, and writes both numbers into $COUNTS for Deploy/test.
count() {
    [ -z "${COUNTS:-}" ] || echo "$1 $2" >"$COUNTS"
    echo "$1 passed, $2 failed"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Installs the named Debian packages that are missing, and prints their names.
install_packages() {
    local package missing=()
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
    done
    [ "${#missing[@]}" -eq 0 ] && return 0
    command -v apt-get >/dev/null || fail "this needs Debian's packages ${missing[*]}, and there is no apt-get here"
    echo "installing ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update \
        && as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing[@]}"; } \
        </dev/null >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        fail "apt could not install what is missing; do so by hand and run this again:
    sudo apt-get install --no-install-recommends ${missing[*]}"
    fi
    rm -f "$log"
}

# Runs a command; packages that it installs start no service.
without_services() {
    local policy=/usr/sbin/policy-rc.d status=0
    [ ! -e "$policy" ] || { "$@"; return; }
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    ("$@") || status=$?
    as_root rm -f "$policy"
    return "$status"
}

# Stops unless Swift 6.2 or newer is on the path and can start.
require_swift() {
    command -v swift >/dev/null \
        || fail "Swift is not on the path; install 6.2 or newer from https://www.swift.org/install and run this again"
    require_swift_libraries
    local said version
    said=$(swift --version 2>&1) || fail "'swift --version' does not run: ${said:-no word}"
    version=$(sed -n 's/.*Swift version \([0-9][0-9]*\)\.\([0-9][0-9]*\).*/\1 \2/p' <<<"$said" | head -n 1)
    [ -n "$version" ] || fail "'swift --version' names no version, but: ${said:-nothing}"
    local major=${version% *} minor=${version#* }
    if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
        fail "Swift $major.$minor is too old; install 6.2 or newer from https://www.swift.org/install"
    fi
}

# Stops if shared libraries of the toolchain are missing, and names them and the packages to install.
require_swift_libraries() {
    local folder tool missing
    folder=$(dirname "$(readlink -f "$(command -v swift)")")
    missing=$(for tool in swift swift-build swift-test swift-frontend clang lld; do
        ldd "$folder/$tool" 2>/dev/null || true
    done | sed -n 's/^[[:space:]]*\(.*\) => not found.*/\1/p' | sort -u | paste -sd ' ')
    [ -n "$missing" ] || return 0
    fail "Swift cannot start, because libraries are missing: $missing
On Debian 12 install what it needs, and run this again:
    sudo apt-get install ${SWIFT_PACKAGES[*]}"
}

# Runs swift build with the given arguments; its output goes to the terminal.
build() {
    (cd "$ROOT" && swift build --explicit-target-dependency-import-check error "$@") \
        || fail "the build failed; see above"
}

# Lines "identity version revision" of the packages of the last resolution.
resolved_versions() {
    [ -f "$ROOT/Package.resolved" ] || fail "there is no Package.resolved; run 'swift package resolve' first"
    python3 -c 'import json, sys
for pin in json.load(sys.stdin)["pins"]:
    print(pin["identity"], pin["state"].get("version", "-"), pin["state"]["revision"])' <"$ROOT/Package.resolved" | sort
}

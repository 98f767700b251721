# SPDX-License-Identifier: Apache-2.0
# Peers that Debian 12 does not have, unpacked into trees of their own below $PEERS; sourced by namespace.sh.
# Nothing is installed on the system: no maintainer script runs, no service starts, no user is made.

# The archive and the key apt uses on this machine, so that no file names a mirror.
archive_of_apt() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1; }
key_of_archive() { dpkg -L debian-archive-keyring | grep -m1 '/debian-archive-keyring.gpg$'; }

# source_line SUITE: later and older suites may be served with an expired Release file.
source_line() { echo "deb [signed-by=$(key_of_archive) check-valid-until=no] $(archive_of_apt) $1 main"; }

# download FOLDER APT-OPTION... -- PACKAGE...: fetches packages into FOLDER/archives.
download() {
    local folder=$1
    shift
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    local apt=(
        apt-get -q -o APT::Install-Recommends=false -o APT::Sandbox::User=root -o Debug::NoLocking=true
        -o Acquire::Retries=3 -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder"
        -o "Dir::Cache::archives=$folder/archives" -o "Dir::Etc::sourceparts=$folder/sources"
        -o "Dir::Etc::preferencesparts=$folder/preferences" "${options[@]}")
    mkdir -p "$folder"/{lists,archives}/partial "$folder/sources" "$folder/preferences"
    timeout 300 "${apt[@]}" update && timeout 600 "${apt[@]}" -y --download-only install "$@"
}

# suite_tree NAME SUITE PACKAGE...: packages of another suite in $PEERS/NAME/root, run there by chroot with their own libc.
suite_tree() {
    local folder=$PEERS/$1 suite=$2 root=$PEERS/$1/root part package
    shift 2
    [ ! -e "$folder/done" ] || return 0
    rm -rf "$folder"
    mkdir -p "$root"
    : >"$folder/status"
    source_line "$suite" >"$folder/sources.list"
    download "$folder" -o "Dir::State=$folder" -o "Dir::State::lists=$folder/lists" -o "Dir::State::status=$folder/status" \
        -o "Dir::Etc::sourcelist=$folder/sources.list" -- "$@" || return 1
    # Packages of these suites expect the links of a merged /usr.
    mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
    for part in bin sbin lib lib64; do ln -s "usr/$part" "$root/$part"; done
    for package in "$folder"/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -C "$root" -xf - --keep-directory-symlink || return 1
    done
    mkdir -p "$root"/{proc,dev,tmp,lab,etc,run}
    printf 'root:x:0:0:root:/:/bin/sh\n' >"$root/etc/passwd"
    printf 'root:x:0:\n' >"$root/etc/group"
    mknod -m 666 "$root/dev/null" c 1 3
    mknod -m 666 "$root/dev/urandom" c 1 9
    mknod -m 666 "$root/dev/random" c 1 8
    rm -rf "$folder/archives" "$folder/lists"
    touch "$folder/done"
}

# Asterisk 22 with chan_pjsip alone, from Debian's next release.
asterisk22_tree() { suite_tree asterisk-22 forky asterisk asterisk-core-sounds-en-gsm dash coreutils; }

# Asterisk 16 from Debian 11 on this machine's own libraries: only the packages that are missing here are fetched.
asterisk16_tree() {
    local folder=$PEERS/asterisk-16 package parts list
    [ ! -x "$folder/root/usr/sbin/asterisk" ] || return 0
    rm -rf "$folder"
    mkdir -p "$folder"/{root,sources,preferences}
    eval "$(apt-config shell parts Dir::Etc::sourceparts/d list Dir::Etc::sourcelist/f)"
    cp "$parts"/*.sources "$parts"/*.list "$list" "$folder/sources/" 2>/dev/null || true
    source_line bullseye >"$folder/sources/bullseye.list"
    printf 'Package: *\nPin: release n=bullseye\nPin-Priority: 100\n' >"$folder/preferences/pin"
    download "$folder" -o "Dir::Etc::sourcelist=$folder/none" -- asterisk || return 1
    for package in "$folder"/archives/*.deb; do dpkg-deb -x "$package" "$folder/root" || return 1; done
    rm -rf "$folder/archives" "$folder/lists"
}

# A SIPp with TLS; Debian 12's has none.
sipp_tls_tree() { suite_tree sipp-forky forky sip-tester; }

# PJSIP's Python phone, a wheel without a sound card.
pjsua2_venv() {
    [ ! -x "$PEERS/pj/bin/python" ] || return 0
    rm -rf "$PEERS/pj.new"
    python3 -m venv "$PEERS/pj.new" && timeout 300 "$PEERS/pj.new/bin/pip" install -q pjsua2-python || return 1
    mv "$PEERS/pj.new" "$PEERS/pj"
}

# axe-core, the accessibility rules of Deque Systems, out of a Python package that carries the script.
axe_script() {
    [ ! -s "$PEERS/axe/axe.min.js" ] || return 0
    rm -rf "$PEERS/axe.new"
    mkdir -p "$PEERS/axe.new"
    timeout 300 python3 -m pip download -q --no-deps -d "$PEERS/axe.new" axe-playwright-python==0.1.8 || return 1
    python3 -m zipfile -e "$PEERS"/axe.new/*.whl "$PEERS/axe.new" || return 1
    mv "$PEERS/axe.new/axe_playwright_python" "$PEERS/axe"
    rm -rf "$PEERS/axe.new"
}

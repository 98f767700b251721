# SPDX-License-Identifier: Apache-2.0
# Checks of the packages themselves, and the versions before and after; sourced by Tests/Package/run.

# repacked SUFFIX TABLE: the packages with another version, in a folder SUFFIX. A TABLE is a change of the tables that the
# built version does not know.
repacked() {
    local suffix=$1 table=${2:-} package tree=$TREES/repack
    rm -rf "$TREES/packages/$suffix"
    mkdir -p "$TREES/packages/$suffix"
    for package in "$built"/*.deb; do
        rm -rf "$tree"
        dpkg-deb -R "$package" "$tree"
        sed -i "s/$VERSION/$NUMBER$suffix-1/g" "$tree"/DEBIAN/{control,preinst}
        if [ -n "$table" ]; then
            [ ! -e "$tree/usr/share/herald/herald.tables" ] || echo "$table" >>"$tree/usr/share/herald/herald.tables"
            sed -i "s/^gateway='/&$table\n/" "$tree/DEBIAN/preinst"
        fi
        dpkg-deb --root-owner-group -Znone --build "$tree" "$TREES/packages/$suffix" >/dev/null
    done
    rm -rf "$tree"
}

# Lists of tables that a database of the built program has, compared with the list in the package.
tables_match() {
    python3 - "$1" "$2" <<'END'
import sqlite3, sys
found = {row[0] for row in sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute("SELECT identifier FROM grdb_migrations")}
listed = set(open(sys.argv[2], encoding="utf-8").read().splitlines())
sys.exit(0 if found == listed else f"      database {sorted(found)}, package {sorted(listed)}")
END
}

# A manual page without a remark of groff.
manual_is_clean() {
    local remarks
    zcat "$1" >"$TREES/page.1"
    remarks=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$TREES/page.1" 2>&1 >/dev/null)
    [ -z "$remarks" ] || { echo "      $remarks" >&2; return 1; }
}

# The words that bash offers after a beginning of a command line.
offers() {
    bash -c 'source "$1"; COMP_WORDS=($2 "$3"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="$2 $3"; COMP_POINT=${#COMP_LINE}
        "_$4" "$4" "$3" "" 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' _ "$1" "$2" "$3" "${2%% *}"
}

offers_word() { offers "$1" "$2" "$3" | sed 's/ *$//' | grep -qx -- "$4" || { offers "$1" "$2" "$3" >&2; return 1; }; }

lintian_is_silent() {
    local remarks
    remarks=$(lintian --no-cfg --profile debian --fail-on error,warning "$built"/*.deb 2>&1) || {
        printf '%s\n' "$remarks" | sed 's/^/      /' >&2
        return 1
    }
}

# take_packages: the packages in the folder of the tree, and unpacked; debug programs need the Swift libraries.
take_packages() {
    local package tree=$TREES/unpacked
    rm -rf "$tree" "$TREES/packages/now"
    mkdir -p "$TREES/packages/now"
    cp "$built"/*.deb "$TREES/packages/now"
    for package in "$built"/*.deb; do dpkg-deb -x "$package" "$tree"; done
    libraries=$(ldd "$tree/usr/bin/herald" | sed -n 's|.* => \(.*\)/libswiftCore.so.*|\1|p')
    [ -z "$libraries" ] || SWIFT_LIBRARIES=$libraries
}

check_packages() {
    local tree=$TREES/unpacked
    VERSION=$(dpkg-deb -f "$(ls "$built"/herald_*.deb)" Version)
    NUMBER=${VERSION%-*}
    repacked '~before'
    repacked '+later' 'ledger of a later version'

    ok "three packages are built: herald, herald-directory, herald-common" [ "$(ls "$built" | wc -l)" -eq 3 ]
    if [ -z "$libraries" ]; then
        ok "lintian reports no error and no warning beyond the named overrides" lintian_is_silent
    else
        echo "      lintian is left out: these programs load Swift's libraries from $libraries"
    fi
    for program in herald herald-directory; do
        ok "the manual page of $program has no remark of groff" manual_is_clean "$tree/usr/share/man/man1/$program.1.gz"
        ok "$program --version begins with the number of the package" \
            grep -qE "^$NUMBER( \([0-9a-f]+(-dirty)?\))?$" <(LD_LIBRARY_PATH=$libraries "$tree/usr/bin/$program" --version)
    done
    ok "every command of herald has its section in the manual" \
        [ "$(zcat "$tree/usr/share/man/man1/herald.1.gz" | grep -c '^\.SS herald')" -ge 7 ]
    ok "bash completes a command" offers_word "$tree/usr/share/bash-completion/completions/herald" herald che check-config
    ok "bash completes a command of herald-directory" \
        offers_word "$tree/usr/share/bash-completion/completions/herald-directory" "herald-directory brands" se set
    for program in herald herald-directory; do
        ok "zsh reads the completion of $program" zsh -n "$tree/usr/share/zsh/vendor-completions/_$program"
        ok "fish reads the completion of $program" fish -n "$tree/usr/share/fish/vendor_completions.d/$program.fish"
    done
    ok "the notices have the licences of the Swift packages" \
        grep -q 'swift-nio 2' <(zcat "$tree/usr/share/doc/herald-common/THIRD-PARTY-NOTICES.txt.gz")
    for file in docs/install.md docs/backup.md docs/recipes/asterisk.md examples/prometheus/herald.rules.yml \
        examples/grafana/herald.json; do
        ok "/usr/share/doc/herald/$file is there" [ -s "$tree/usr/share/doc/herald/$file" ]
    done
    ok "programs have no symbols" eval "! readelf -S $tree/usr/bin/herald* \$(find $tree/usr/libexec -type f) | grep \\.symtab >/dev/null"
}

# cyclonedx_venv: the validator of CycloneDX's Python library.
cyclonedx_venv() {
    [ ! -x "$TREES/cyclonedx/bin/python" ] || return 0
    rm -rf "$TREES/cyclonedx.new"
    python3 -m venv "$TREES/cyclonedx.new" \
        && timeout 300 "$TREES/cyclonedx.new/bin/python" -m pip install -q 'cyclonedx-python-lib[json-validation]' || return 1
    mv "$TREES/cyclonedx.new" "$TREES/cyclonedx"
}

# valid_cyclonedx FILE: no remark of the schema.
valid_cyclonedx() {
    cyclonedx_venv || { echo "      pip installs no cyclonedx-python-lib" >&2; return 1; }
    "$TREES/cyclonedx/bin/python" - "$1" <<'END'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
with open(sys.argv[1], encoding="utf-8") as file:
    remark = JsonStrictValidator(SchemaVersion.V1_5).validate_str(file.read())
sys.exit(f"      {remark}" if remark else 0)
END
}

# release_key: a new key of gpg that signs one release, without a passphrase, and its public part.
release_key() {
    rm -rf "$TREES/gnupg"
    mkdir -m 700 "$TREES/gnupg"
    GNUPGHOME=$TREES/gnupg gpg --batch --quiet --passphrase '' --quick-generate-key release@herald.example ed25519 sign 1d \
        2>/dev/null && gpg --homedir "$TREES/gnupg" --batch --export >"$TREES/herald-release.gpg"
}

# dist PROGRAMS: Deploy/dist in a clone of the last commit, with the Swift packages of this tree.
dist() {
    local source=$TREES/source part
    rm -rf "$source"
    git clone -q "$ROOT" "$source" || return 1
    cp "$ROOT/Package.resolved" "$source"
    for part in .build .build-release; do
        [ ! -d "$ROOT/$part/checkouts" ] || { mkdir "$source/$part"; ln -s "$ROOT/$part/checkouts" "$source/$part/checkouts"; }
    done
    release_key || return 1
    GNUPGHOME=$TREES/gnupg "$source/Deploy/dist" --programs "$1" --output "$TREES/dist" --sign release@herald.example \
        >"$LOG/dist.log" 2>&1 || { tail -n 5 "$LOG/dist.log" | sed 's/^/      /' >&2; return 1; }
}

sums_fit() {
    (cd "$1" && sha256sum --check --quiet --strict SHA256SUMS && [ "$(wc -l <SHA256SUMS)" -eq $(($(ls | wc -l) - 2)) ])
}

check_release() { # PROGRAMS
    local package
    if ! "$ROOT/Deploy/check-versions" --exact >/dev/null; then
        echo "      Deploy/dist is left out: these programs have other versions of packages than Deploy/versions"
        return
    fi
    ok "Deploy/dist writes a release" dist "$(readlink -f "$1")"
    ok "SHA256SUMS fits every file of the release" sums_fit "$TREES/dist"
    ok "the signature of SHA256SUMS is by the key of the release" \
        gpgv --quiet --keyring "$TREES/herald-release.gpg" "$TREES/dist/SHA256SUMS.asc" "$TREES/dist/SHA256SUMS"
    ok "the list of parts is CycloneDX 1.5 by its schema" valid_cyclonedx "$TREES/dist/herald-$NUMBER.cdx.json"
    ok "the release has the source, which has Deploy/release" \
        grep -q "^herald-$NUMBER/Deploy/release$" <(tar tzf "$TREES/dist/herald-$NUMBER.tar.gz")
    # Other packages are right for changes that no commit has.
    [ -z "$(git -C "$ROOT" status --porcelain)" ] || return 0
    for package in "$built"/*.deb; do
        ok "${package##*/} of the release is the one that Deploy/package builds" cmp "$package" "$TREES/dist/${package##*/}"
    done
}

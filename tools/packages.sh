# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by ./quickstart, ./check and tools/nightly: installs Debian packages that are missing, and only those.

# install_missing PACKAGE...  Answers 1 if something is missing and cannot be installed.
install_missing() {
    local package missing=() as_root=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is no Debian: please have the equivalents of these packages: $*"
        return 0
    fi
    for package in "$@"; do
        if [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            missing+=("$package")
        fi
    done
    if ((${#missing[@]} == 0)); then
        return 0
    fi
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            echo "Missing: ${missing[*]}. Install them as root, or have sudo." >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "Installing with apt: ${missing[*]}"
    # The lists of a fresh machine are empty; stale ones name packages that are gone.
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
            --no-install-recommends "${missing[@]}"
}

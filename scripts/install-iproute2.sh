#!/bin/sh
# Prints the path of `ip`, with which tests make network namespaces; installs Debian's where there is none.
set -eu

if command -v ip >/dev/null 2>&1; then
  command -v ip
  exit 0
fi

# `--only-find`: nothing is installed.
if [ "${1:-}" = --only-find ]; then
  echo 'no ip: run scripts/install-iproute2.sh' >&2
  exit 1
fi

if ! command -v apt-get >/dev/null 2>&1; then
  echo 'no ip, and no apt-get to install it: install iproute2' >&2
  exit 1
fi

as_root=sudo
[ "$(id -u)" = 0 ] && as_root=
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >&2
$as_root apt-get install -y -qq --no-install-recommends iproute2 >&2
command -v ip

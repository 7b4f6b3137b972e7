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

sh "$(dirname "$0")/apt-install.sh" ip iproute2
command -v ip

#!/bin/sh
# `apt-install.sh <what> <package> ...`: installs Debian's packages, as root or by sudo; says what is missing where it cannot.
set -eu

what=$1
shift
if ! command -v apt-get >/dev/null 2>&1; then
  echo "no $what, and no apt-get to install it: install $*" >&2
  exit 1
fi

as_root=sudo
[ "$(id -u)" = 0 ] && as_root=
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >&2
$as_root apt-get install -y -qq --no-install-recommends "$@" >&2

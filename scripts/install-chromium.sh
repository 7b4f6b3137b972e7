#!/bin/sh
# Prints the path of a Chromium for the browser tests; installs Debian's where there is none (about ten seconds).
# QUERENT_CHROMIUM names another one. QUERENT_CHROMIUM=none: there is to be none, so nothing is installed.
set -eu

# `--only-find`: nothing is installed.
only_find=${1:-}

if [ "${QUERENT_CHROMIUM:-}" = none ]; then
  echo 'no Chromium is wanted (QUERENT_CHROMIUM=none)' >&2
  exit 1
fi

for name in "${QUERENT_CHROMIUM:-}" chromium chromium-browser google-chrome; do
  if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then
    command -v "$name"
    exit 0
  fi
done

if [ "$only_find" = --only-find ]; then
  echo 'no Chromium: run scripts/install-chromium.sh, or name one in QUERENT_CHROMIUM' >&2
  exit 1
fi

sh "$(dirname "$0")/apt-install.sh" Chromium chromium fonts-dejavu-core
command -v chromium

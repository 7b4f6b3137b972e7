#!/bin/sh
# Prints the path of nginx, the proxy of the tests; installs Debian's where there is none, and does not start it as a service.
set -eu

# Debian puts it where only root's PATH leads.
PATH="$PATH:/usr/sbin"

if command -v nginx >/dev/null 2>&1; then
  command -v nginx
  exit 0
fi

# `--only-find`: nothing is installed.
if [ "${1:-}" = --only-find ]; then
  echo 'no nginx: run scripts/install-nginx.sh' >&2
  exit 1
fi

if [ "$(id -u)" = 0 ] && [ ! -e /usr/sbin/policy-rc.d ]; then
  # Debian starts what it installs, unless this says no.
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
  chmod +x /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
sh "$(dirname "$0")/apt-install.sh" nginx nginx-light
command -v nginx

#!/bin/sh
# Runs what is in /docker-entrypoint.d before the server starts: programs, and files *.envsh that set variables.
# SLUICE_ENTRYPOINT_QUIET_LOGS: say nothing about it.
set -e

say() {
	if [ -z "${SLUICE_ENTRYPOINT_QUIET_LOGS:-}" ]; then
		echo "$0: $*"
	fi
}

if [ "$1" = sluice ]; then
	mkdir -p /run/sluice 2>/dev/null || true
	for file in "${SLUICE_ENTRYPOINT_DIR:-/docker-entrypoint.d}"/*; do
		case $file in
		*.envsh)
			if [ -x "$file" ]; then
				say "sourcing $file"
				# shellcheck source=/dev/null
				. "$file"
			else
				say "ignoring $file, which is not executable"
			fi
			;;
		*.sh)
			if [ -x "$file" ]; then
				say "running $file"
				"$file"
			else
				say "ignoring $file, which is not executable"
			fi
			;;
		esac
	done
fi

exec "$@"

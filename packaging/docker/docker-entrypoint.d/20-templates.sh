#!/bin/sh
# Writes configuration files from templates. It replaces ${NAME} and $NAME by the environment variable NAME. Names that are
# no environment variables, such as $uri, stay for the server.
#
#   SLUICE_ENVSUBST_TEMPLATE_DIR     folder of templates     /etc/sluice/templates
#   SLUICE_ENVSUBST_TEMPLATE_SUFFIX  end of their names      .template
#   SLUICE_ENVSUBST_OUTPUT_DIR       folder of results       /etc/sluice/conf.d
#   SLUICE_ENVSUBST_FILTER           replace only names that match this regular expression
set -e

templates=${SLUICE_ENVSUBST_TEMPLATE_DIR:-/etc/sluice/templates}
output=${SLUICE_ENVSUBST_OUTPUT_DIR:-/etc/sluice/conf.d}

[ -d "$templates" ] || exit 0
if [ ! -w "$output" ]; then
	echo "$0: $templates exists, but $output cannot be written" >&2
	exit 0
fi
# shellcheck disable=SC2016 # the program is Node's
TEMPLATES=$templates OUTPUT=$output SUFFIX=${SLUICE_ENVSUBST_TEMPLATE_SUFFIX:-.template} exec node --input-type=module --eval '
	import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
	import { dirname } from "node:path";
	const { TEMPLATES, OUTPUT, SUFFIX, SLUICE_ENVSUBST_FILTER, ...env } = process.env;
	const wanted = new RegExp(SLUICE_ENVSUBST_FILTER ?? "");
	const value = (whole, inBraces, plain) => {
		const name = inBraces ?? plain;
		return Object.hasOwn(env, name) && wanted.test(name) ? Buffer.from(env[name]).toString("latin1") : whole;
	};
	for (const file of readdirSync(TEMPLATES, { recursive: true }).filter((name) => name.endsWith(SUFFIX)).sort()) {
		const target = `${OUTPUT}/${file.slice(0, -SUFFIX.length)}`;
		mkdirSync(dirname(target), { recursive: true });
		const text = readFileSync(`${TEMPLATES}/${file}`, "latin1");
		writeFileSync(target, text.replace(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, value), "latin1");
	}
'

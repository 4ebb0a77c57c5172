// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates have variables in braces
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';

const folder = new URL('../../packaging/docker/', import.meta.url).pathname;

t.test('the entry point fills templates in and becomes its command', async (t) => {
  const dir = t.testdir({
    conf: {},
    entry: { '10-set.envsh': 'export PORT=8123\n', '15-ignored.sh': 'echo never\n' },
    templates: {
      'site.conf.template': 'listen ${PORT}; server_name $NAME; # ${UNSET} $uri $NAMES\n',
      sub: { 'x.conf.template': '$NAME' },
      'other.txt': '$NAME',
    },
  });
  spawnSync('sh', ['-c', `chmod +x ${dir}/entry/10-set.envsh; ln -s ${folder}docker-entrypoint.d/20-templates.sh ${dir}/entry/`]);
  spawnSync('sh', ['-c', `mkdir ${dir}/bin; printf '#!/bin/sh\\necho "served: $*"\\n' > ${dir}/bin/sluice; chmod +x ${dir}/bin/sluice`]);
  const run = (...command: string[]) =>
    spawnSync(`${folder}docker-entrypoint.sh`, command, {
      encoding: 'utf8',
      env: {
        PATH: `${dir}/bin:${process.env.PATH}`,
        NAME: 'ex\u00e4mple.com',
        SLUICE_ENTRYPOINT_DIR: `${dir}/entry`,
        SLUICE_ENVSUBST_TEMPLATE_DIR: `${dir}/templates`,
        SLUICE_ENVSUBST_OUTPUT_DIR: `${dir}/conf`,
      },
    });
  t.match(run('echo', 'other'), { stdout: 'other\n', status: 0 }, 'another command runs as it is');
  const { stdout, stderr, status } = run('sluice', '-g', 'daemon off;');
  t.same([stderr, status], ['', 0]);
  t.match(stdout, /served: -g daemon off;\n$/);
  t.match(stdout, /ignoring .*15-ignored\.sh/);
  t.equal(readFileSync(`${dir}/conf/site.conf`, 'utf8'), 'listen 8123; server_name ex\u00e4mple.com; # ${UNSET} $uri $NAMES\n');
  t.equal(readFileSync(`${dir}/conf/sub/x.conf`, 'utf8'), 'ex\u00e4mple.com');
  t.throws(() => readFileSync(`${dir}/conf/other.txt`));
});

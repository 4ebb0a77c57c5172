import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { httpGet } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const answering = (text: string, more = '') =>
  httpConf(
    `server { listen 127.0.0.1:%%PORT_0%%; include inc.conf; location / { return 200 "${text}"; } }`,
    `pid %%DIR%%/server.pid;${more}`,
  );
const files = { 'inc.conf': 'server_name a;' };

/** The text that the server answers with. */
async function answer(server: Server): Promise<string> {
  return (await httpGet(server, '/')).body.toString('latin1');
}

const cli = (server: Server, ...args: string[]) => runCli([...args, '-p', `${server.dir}/`, '-c', 'sluice.conf']);

/** Reloads as an operator does. */
async function reload(server: Server, conf: string): Promise<void> {
  await server.configure(conf);
  const { code, stderr } = await runCli(['-p', `${server.dir}/`, '-c', 'sluice.conf', '-e', 'error.log', '-s', 'reload']);
  t.same([code, stderr], [0, '']);
}

t.test('back to what served, with the files as they are, and forward by a reload', async (t) => {
  const server = await startServer(t, { conf: answering('one'), files });
  await reload(server, answering('two'));
  await waitFor(async () => (await answer(server)) === 'two');
  const listed = await cli(server, 'rollback', '--list');
  t.equal(listed.code, 0);
  t.match(
    listed.stdout,
    /^ {2}1 {2}\S+sluice\.conf and 1 included file\n {7}\S+ \S+ UTC; until \S+ \S+ UTC: a reload that \S+ \(uid \d+\)[^\n]* asked for\n\* 2 {2}/,
  );
  // The file is broken now, and the folder of what is kept is the usual one.
  await server.write('sluice.conf', 'rubbish;');
  const back = await cli(server, 'rollback');
  t.same([back.code, back.stderr], [0, '']);
  t.match(back.stdout, `configuration 1 serves again\n${server.dir}/sluice.conf is as it was`);
  t.equal(await answer(server), 'one');
  t.equal(server.read('sluice.conf'), 'rubbish;');
  await server.configure(answering('two'));
  const status = await cli(server, 'status');
  t.match(
    status.stdout,
    /it serves the kept configuration 1 by a rollback since .* UTC, asked for by .* \(uid \d+\).*, not .*\/sluice\.conf\n/,
  );
  const different = await cli(server, 'diff');
  t.equal(different.code, 1);
  t.match(different.stdout, /--- the configuration that serves \(1 in [^)]*\)\n[\s\S]*~ return: 200 one becomes 200 two\n/);
  t.same((await cli(server, 'rollback')).code, 1, 'there is none before it');
  t.match((await cli(server, 'rollback', '7')).stderr, 'no configuration 7 is kept');
  t.match((await cli(server, 'rollback', '1')).stderr, 'configuration 1 is the one that serves');
  await server.reload();
  t.equal(await answer(server), 'two');
  const list = JSON.parse((await cli(server, 'rollback', '--list', '--json')).stdout) as {
    configurations: { number: number; serves: boolean }[];
  };
  t.strictSame(
    list.configurations.map(({ number, serves }) => [number, serves]),
    [
      [1, false],
      [2, true],
    ],
    'a configuration that says the same has its number again',
  );
  t.same((await cli(server, 'diff')).code, 0);
  await server.stop('QUIT');
  t.match((await cli(server, 'rollback', '--list')).stdout, /until \S+ \S+ UTC: the server was told to quit\n$/);
  t.same((await cli(server, 'rollback')).code, 3);
});

t.test('they are kept for nobody else to read, and without keys', async (t) => {
  const { cert, key } = certs().rsa;
  const secure = `%%DIR%%/c.pem; ssl_certificate_key %%DIR%%/k.pem; listen 127.0.0.1:%%PORT_1%% ssl;`;
  const conf = (n: number) =>
    httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; ssl_certificate ${secure} location / { return 200 ${n}; } }`,
      'pid %%DIR%%/server.pid;\nconfiguration_history kept;',
    );
  const server = await startServer(t, { conf: 'pid %%DIR%%/server.pid;\nevents {}\nconfiguration_history kept;' });
  copyFileSync(cert, `${server.dir}/c.pem`);
  copyFileSync(key, `${server.dir}/k.pem`);
  await server.reload(conf(2));
  await server.reload(conf(3));
  const folder = `${server.dir}/kept`;
  t.equal(statSync(folder).mode & 0o777, 0o700);
  const secret = readFileSync(key, 'latin1').split('\n')[1]!;
  for (const name of readdirSync(`${folder}/3`)) {
    t.equal(statSync(`${folder}/3/${name}`).mode & 0o777, 0o600);
    t.notMatch(readFileSync(`${folder}/3/${name}`, 'latin1'), secret);
  }
  copyFileSync(certs().second.cert, `${server.dir}/c.pem`);
  copyFileSync(certs().second.key, `${server.dir}/k.pem`);
  const renewed = await cli(server, 'diff');
  t.match(renewed.stdout, /certificate\n {2}~ \S+\/c\.pem has another content: for \S*example\.org\S*, valid until [\d-]+; was for /);
  t.match(renewed.stdout, /^file\n {2}~ \S+\/k\.pem has another content: content \w{12}; was content \w{12}$/m);
  copyFileSync(`${server.dir}/sluice.conf`, `${server.dir}/k.pem`);
  // A file that changes within a second of its being read is taken for the same.
  utimesSync(`${server.dir}/k.pem`, new Date(), new Date(Date.now() + 10_000));
  const refused = await cli(server, 'rollback');
  t.equal(refused.code, 1);
  t.match(refused.stderr, /configuration 2 cannot be used any more: cannot load certificate key/);
  t.equal(await answer(server), '3');
  copyFileSync(certs().second.key, `${server.dir}/k.pem`);
  t.match((await cli(server, 'status')).stdout, /the reload of .* was refused: cannot load certificate key/);
});

t.test('a server that cannot keep them serves, and one that is told not to does not', async (t) => {
  const server = await startServer(t, { conf: `${answering('x')}configuration_history %%DIR%%/inc.conf/x;`, files });
  await server.logged(/configurations that serve are not kept \(/);
  t.equal(await answer(server), 'x');
  await server.reload(`${answering('y')}configuration_history off;`);
  t.equal(await answer(server), 'y');
  t.match((await cli(server, 'rollback')).stderr, 'this configuration keeps none of those that served');
  t.notOk(existsSync(`${server.dir}/configurations`));
});

t.test('requests that are not whole, old, or for nothing that is kept', async (t) => {
  const server = await startServer(t, { conf: answering('one'), files });
  const folder = `${server.dir}/configurations`;
  writeFileSync(`${folder}/request-00.json`, '{"token": "00", "at":', { mode: 0o600 });
  writeFileSync(`${folder}/request-01.json`, JSON.stringify({ token: '01', at: Date.now() - 3_600_000, by: 'x', rollback: 9 }));
  await server.reload(answering('two'));
  t.equal(await answer(server), 'two');
  writeFileSync(`${folder}/request-02.json`, JSON.stringify({ token: '02', at: Date.now(), by: 'x', rollback: 9 }));
  await t.rejects(server.reload(), /configuration 9 is not kept in/);
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('request')),
    [],
  );
  mkdirSync(`${folder}/5`);
  writeFileSync(`${folder}/5/manifest.json`, '{}');
  t.equal((await cli(server, 'rollback', '5')).code, 1);
});

t.test('without a master', async (t) => {
  const server = await startServer(t, { conf: answering('alone', 'master_process off;'), files });
  await server.configure(answering('other', 'master_process off;'));
  server.signal('HUP');
  await waitFor(async () => (await answer(server)) === 'other');
  t.same((await cli(server, 'rollback')).code, 0);
  t.equal(await answer(server), 'alone');
});

import { existsSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such option');
}

const answering = (text: string, more = '', main = '') =>
  httpConf(
    `server { listen 127.0.0.1:%%PORT_0%%; location / { return 200 "${text}"; } location = /metrics { sluice_status; } ${more} }`,
    `pid %%DIR%%/server.pid;${main}`,
  );

t.test('-s reload --wait ends with the outcome, which is a metric too', async (t) => {
  const server = await startServer(t, { conf: answering('one') });
  const cli = (...args: string[]) => runCli(['-p', `${server.dir}/`, '-c', 'sluice.conf', '-e', 'error.log', ...args]);
  const metric = async (name: string): Promise<string | undefined> => {
    const { text } = await httpGet(server, '/metrics?format=prometheus');
    return new RegExp(`^sluice_${name}(?:\\{[^}]*\\})? (.*)$`, 'm').exec(text)?.[1];
  };
  t.equal(await metric('config_last_reload_successful'), '1');
  t.match(await metric('worker_memory_bytes'), /^\d{7,}$/);
  t.match(await metric('worker_cpu_seconds_total'), /^\d/);

  await server.configure(answering('two'));
  const done = await cli('-s', 'reload', '--wait');
  t.match(done, { code: 0, stderr: /^sluice: the new configuration serves\n$/ });
  t.equal((await httpGet(server, '/')).text, 'two');

  // The text is right: that a log cannot be opened only the server finds.
  await server.configure(answering('three', '', 'error_log %%DIR%%/none/error.log;'));
  const refused = await cli('-s', 'reload', '--wait');
  t.equal(refused.code, 1);
  t.match(refused.stderr, 'sluice: the reload was refused, and the configuration of before serves: open() "');
  t.equal((await httpGet(server, '/')).text, 'two');
  t.equal(await metric('config_last_reload_successful'), '0');
  t.equal(await metric('config_reloads_refused_total'), '1');

  await server.configure(answering('four'));
  t.equal((await cli('-s', 'reload', '--wait')).code, 0);
  await waitFor(async () => (await metric('config_last_reload_successful')) === '1');
  t.equal(await metric('config_reloads_refused_total'), '1');
  t.match(await cli('-s', 'quit', '--wait'), { code: 1, stderr: /option "--wait" goes with "-s reload"/ });
});

t.test('of a canary, too', async (t) => {
  const canary = ' reload_canary 50% 1s;';
  const server = await startServer(t, { conf: answering('one', '', canary) });
  const cli = (...args: string[]) => runCli(['-p', `${server.dir}/`, '-c', 'sluice.conf', '-e', 'error.log', ...args]);
  await server.configure(answering('two', '', canary));
  const { code, stderr } = await cli('-s', 'reload', '--wait');
  t.equal(code, 0, stderr);
  t.match(
    stderr,
    /^sluice: reloading: the canary, worker process \d+, takes 50% .*\nsluice: the new configuration serves: the canary passed/m,
  );
});

t.test('without a history nobody would know', async (t) => {
  const server = await startServer(t, { conf: answering('one', '', ' configuration_history off;') });
  const { code, stderr } = await runCli(['-p', `${server.dir}/`, '-c', 'sluice.conf', '-s', 'reload', '--wait']);
  t.equal(code, 1);
  t.match(stderr, '"--wait" needs a running server that keeps its configurations');
});

t.test('the running server serves another file than the one that is named', async (t) => {
  const server = await startServer(t, { conf: answering('one') });
  await server.write('other.conf', answering('two'));
  const { code, stderr } = await runCli(['-p', `${server.dir}/`, '-c', 'other.conf', '-e', 'error.log', '-s', 'reload']);
  t.equal(code, 0);
  t.equal(
    stderr,
    `sluice: [warn] the running server serves ${server.dir}/sluice.conf, and reloads that file, not ${server.dir}/other.conf\n`,
  );
});

t.test('while the file is broken the server can be looked at, and ended', async (t) => {
  const server = await startServer(t, { conf: answering('one') });
  await server.configure(`${answering('one')}\nrubbish;`);
  const args = ['-p', `${server.dir}/`, '-c', 'sluice.conf'];
  t.equal((await runCli(['status', ...args])).code, 0);
  await httpGet(server, '/one');
  await server.accessLogged('GET /one');
  t.match(await runCli(['logs', 'path=/one', ...args]), { code: 0, stdout: / \/one / });
  t.match(await runCli([...args, '-e', 'error.log', '-s', 'reload']), { code: 1 });
  const reopened = await runCli([...args, '-e', 'error.log', '-s', 'reopen']);
  t.match(reopened, { code: 0, stderr: /unknown directive "rubbish"[\s\S]*by what can be read of it the pid file is ".*server\.pid"\n$/ });
  t.equal((await runCli([...args, '-e', 'error.log', '-s', 'quit'])).code, 0);
  await waitFor(() => !existsSync(`${server.dir}/server.pid`));
});

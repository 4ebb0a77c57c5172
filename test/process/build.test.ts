import { mkdirSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import type { RequestObject } from '../../src/worker/js/request-object.js';
import type { HttpRequest } from '../../types/index.js';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

/** Members that the types have and the object has not; the compiler refuses any. */
type Missing = Exclude<keyof HttpRequest, keyof RequestObject>;
const missing: readonly Missing[] = [] satisfies readonly never[];

const good = `
import type { FetchEnv, HttpRequest, HttpValue } from 'sluice/types';
import { other } from './other.ts';
const value: HttpValue = (r) => r.headersIn.host;
export default {
  async r(r: HttpRequest): Promise<void> {
    const reply = await r.subrequest('/x', { method: 'POST', body: 'a' });
    r.headersOut['Set-Cookie'] = ['a', 'b'];
    ngx.log(ngx.WARN, String(ngx.shared['zone']?.get('a')));
    r.return(reply.status, other(reply.responseText ?? ''));
  },
  fetch: async (request: Request, env: FetchEnv): Promise<Response> => Response.json({ a: await request.json(), ip: env.remoteAddress }),
  value,
};
`;
const other = 'export const other = (text: string): string => text.toUpperCase();\n';
const conf = 'events {} http { js_import app from app.ts; server { listen 127.0.0.1:1; location / { js_content app.r; } } }';

t.test('the published types fit the objects', async (t) => {
  t.strictSame(missing, []);
});

t.test('sluice build checks TypeScript', async (t) => {
  const run = async (app: string, typescript: boolean) => {
    const { dir } = await makePrefix(t, { 'sluice.conf': conf, 'app.ts': app, 'other.ts': other });
    if (typescript) {
      mkdirSync(`${dir}/node_modules`);
      symlinkSync(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), `${dir}/node_modules/typescript`);
    }
    return runCli(['build', '-p', `${dir}/`, '-c', `${dir}/sluice.conf`], { cwd: dir });
  };
  // All but what is made wrong here is right: one run of the compiler shows both.
  const wrong = await run(good.replace("other(reply.responseText ?? '')", 'other(5)').replace('env.remoteAddress', 'env.address'), true);
  t.equal(wrong.code, 1);
  t.match(wrong.stdout, /app\.ts\(\d+,\d+\): error TS2345: [\s\S]*error TS2339: [\s\S]*2 errors in 2 files\n/);
  const lacking = await run(good, false);
  t.equal(lacking.code, 2);
  t.match(lacking.stderr, /types are checked by the package typescript, which is not there/);
  t.ok(ts.version);
});

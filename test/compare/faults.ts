import { readdirSync } from 'node:fs';
import { whyNoQuic } from '../../src/worker/net/openssl/quic-library.js';
import { fileHarms, insideHarms, zoneFiles } from '../support/zone-harm.js';
import { Backend } from './backend.js';
import { type Answer, type Case, type Client, isStream } from './case.js';
import { converse } from './client.js';
import { caseConfiguration, FORMS, type Form, portOf, STREAM, streamAddress, type Wanted } from './configuration.js';
import type { FailingCalls } from './failing-calls.js';
import { meansTheSame } from './requests.js';
import { runHost } from './run-host.js';
import type { Site } from './site.js';

/** The version of HTTP in which a client asks. */
type Version = 1 | 2 | 3;

/** One side of an exchange that leaves at a byte, a call of the server's that fails, or harm to the files of its zones. */
export type Fault = { readonly form: Form; readonly version: Version } & (
  | { readonly who: 'client'; readonly of: 'sent' | 'received'; readonly after: number; readonly how: 'close' | 'reset' }
  | { readonly who: 'backend'; readonly after: number; readonly how: 'close' | 'reset' }
  | { readonly who: 'zone'; readonly harm: string }
  | { readonly who: 'server'; readonly call: string; readonly nth: number; readonly code: string }
);

/** What was wrong after a fault. */
export interface Harm {
  readonly case: Case;
  readonly fault: Fault;
  readonly problem: string;
}

/** Bytes at the ends of an exchange at which somebody leaves in any case; others are chosen between them. */
const EVERY = 40;

/** The bytes at which to leave in an exchange of a length: all near the start, and some of the rest. */
const places = (length: number): number[] => {
  const near = Array.from({ length: Math.min(length, EVERY) }, (_, i) => i + 1);
  const far = Array.from({ length: 8 }, (_, i) => Math.floor((length * (i + 1)) / 9)).filter((at) => at > EVERY);
  return [...near, ...far];
};

/** What the neighbour is answered. It is in the cache under a name of its own after the first time. */
const WHOLE: Answer = { status: 200, fields: [['Cache-Control', 'max-age=60']], body: { text: 'whole ', times: 50 }, framing: 'length' };
const BODY = 'whole '.repeat(50);

const NEIGHBOUR: Client = { requests: [{ method: 'GET', target: '/beside?x=1', version: '1.1', fields: [['Connection', 'close']] }] };

const NEIGHBOUR_OF_2: Client = { requests: [{ method: 'GET', target: '/beside?x=1', version: '1.1', fields: [] }] };

/** A case whose requests can be made over HTTP/2 and HTTP/3. */
const simple = (one: Case): boolean => !isStream(one) && one.client.requests.every(meansTheSame);

/** A case whose request gets the same each time. */
const repeatable = ({ parts, client: { requests } }: Case): boolean =>
  !parts.some(({ name }) => /^(limits|dav)$/.test(name)) && requests.every(({ method }) => method === 'GET' || method === 'HEAD');

/** How the only case of a site is reached; without one, the site itself. */
const transport = (site: Site, form: Form, one?: Case, version: Version = 1) => ({
  ...(one !== undefined && isStream(one)
    ? { port: site.server.port(STREAM.plain), address: streamAddress(NAME) }
    : { port: site.server.port(portOf(form, version === 3)) }),
  tls: version === 3 || one?.client.through === 'tls',
  http2: version === 2,
  http3: version === 3,
  bytewise: false,
});

/** Whether there are clients of HTTP/3. */
const quic = whyNoQuic() === '';
const WANTED: readonly Wanted[] = FORMS.map((form) => ({ form, tls: false, http3: quic && form === 'plain' }));

const ZONE_HARMS = { ...fileHarms, ...insideHarms };

/** The files of a site's zones, which has a folder for them. */
const zonesOf = ({ server }: Site): string[] =>
  readdirSync(`${server.dir}/zones`).flatMap((run) => zoneFiles(`${server.dir}/zones/${run}`));

/** How often a call of a kind fails, one after the other, while it is met at all. */
const MOST_CALLS = 6;
const CODES = ['EIO', 'ENOSPC'];

/** The name of a site's only case. */
const NAME = 'c0';

let runs = 0;

/**
 * Lets the client, then the backend, of a case leave at one byte after another, zones come to harm, and calls of the server's fail, and
 * looks each time whether a neighbour on the same connections to the backend, and what the cache holds, are whole. Counters are looked at
 * last. `calls`: makes calls fail.
 */
export async function sufferFaults(
  site: Site,
  whoLeaves: Case,
  calls: FailingCalls,
): Promise<{ readonly faults: number; readonly harms: readonly Harm[] }> {
  const { leave: _own, ...client } = whoLeaves.client;
  const one: Case = { ...whoLeaves, client };
  const backend = new Backend(one.answer);
  const port = await backend.listen(one.client.through === 'udp');
  const beside = 'location = /beside { limit_conn one 100; limit_req zone=few burst=10000 nodelay; proxy_pass http://%%CASE%%/beside; }';
  await site.load(
    new Map([[NAME, caseConfiguration({ ...one, parts: [...one.parts, { name: 'beside', server: beside }] }, NAME, port, WANTED)]]),
  );
  const forms = isStream(one) ? FORMS.slice(0, 1) : FORMS;
  const harms: Harm[] = [];
  let faults = 0;
  const whole = async (form: Form, host: string): Promise<string> => {
    backend.begin(one.answer);
    const { responses } = await converse(transport(site, form, one), one.client, host);
    return `${responses[0]?.status} ${responses[0]?.body.toString('latin1').replaceAll(host, 'HOST')}`;
  };
  const name = (): string => runHost(++runs, NAME);
  backend.begin(WHOLE);
  const { responses } = await converse(transport(site, 'plain', one), NEIGHBOUR, name());
  if (responses[0]?.body.toString('latin1') !== BODY) {
    // The case's own server lets nobody in.
    backend.close();
    return { faults, harms };
  }
  const expected = new Map<Form, string>();
  for (const form of forms) {
    expected.set(form, await whole(form, name()));
  }
  const converseWith = async (fault: Fault, host: string): Promise<void> => {
    const at = transport(site, fault.form, one, fault.version);
    if (fault.who === 'zone') {
      zonesOf(site).forEach(ZONE_HARMS[fault.harm]!);
    }
    if (fault.who === 'server') {
      await calls.arm({ kind: fault.call, nth: fault.nth, code: fault.code });
    }
    const leaving = fault.who === 'server' || fault.who === 'zone' ? undefined : { after: fault.after, how: fault.how };
    backend.begin(fault.who === 'backend' ? { ...one.answer, leave: leaving! } : one.answer);
    await converse(at, fault.who === 'client' ? { ...one.client, leave: { ...leaving!, of: fault.of } } : one.client, host).catch(() => {});
  };
  const suffer = async (fault: Fault): Promise<boolean> => {
    const host = name();
    const at = transport(site, fault.form, one, fault.version);
    await converseWith(fault, host);
    const left = fault.who === 'server' || fault.who === 'zone' ? await calls.disarm() : 1;
    const failed = fault.who === 'zone' && left !== undefined ? 1 : left;
    // A call that was not made did not fail.
    faults += failed === 0 ? 0 : 1;
    if (failed === undefined) {
      harms.push({ case: one, fault, problem: 'the worker ended' });
      await calls.untilServed();
      return false;
    }
    if (failed === 0) {
      return false;
    }
    // The same again, whole: what the cache kept of the first one must not show.
    const again = repeatable(one) && fault.version === 1 ? await whole(fault.form, host) : expected.get(fault.form);
    // As in nginx, "any" in *_cache_valid keeps what was answered for want of a backend.
    const kept = fault.form === 'cached' && /^50[24] /.test(again ?? '');
    if (again !== expected.get(fault.form) && !kept) {
      const texts = [again, expected.get(fault.form)].map((text) => JSON.stringify(text?.slice(0, 200)));
      harms.push({ case: one, fault, problem: `the same request then got ${texts.join(' instead of ')}` });
    }
    backend.begin(WHOLE);
    for (const client of [NEIGHBOUR, NEIGHBOUR]) {
      const { responses, end } = await converse(at, fault.version > 1 ? NEIGHBOUR_OF_2 : client, host);
      const [response] = responses;
      if (response === undefined || response.status !== 200 || response.body.toString('latin1') !== BODY) {
        const seen = response === undefined ? end : `${response.status} ${JSON.stringify(response.body.toString('latin1', 0, 200))}`;
        harms.push({ case: one, fault, problem: `the neighbour got ${seen}` });
      }
    }
    return true;
  };
  const howOf = (after: number) => (after % 2 === 0 ? 'close' : 'reset');
  for (const form of forms) {
    for (const after of places(400)) {
      await suffer({ form, version: 1, who: 'backend', after, how: howOf(after) });
      await suffer({ form, version: 1, who: 'client', of: 'received', after, how: howOf(after) });
      // Half as many over HTTP/2 and HTTP/3, which have their own ways with the same exchange.
      if (after % 2 === 0) {
        await suffer({
          form,
          version: simple(one) && form !== 'unbuffered' ? 2 : 1,
          who: 'client',
          of: 'sent',
          after,
          how: howOf(after / 2),
        });
      } else if (simple(one)) {
        await suffer({ form, version: 2, who: 'client', of: 'received', after: after + 30, how: howOf(after >> 1) });
      }
      if (form === 'plain' && quic && simple(one)) {
        await suffer({ form, version: 3, who: 'client', of: after % 2 === 0 ? 'sent' : 'received', after, how: howOf(after >> 1) });
      }
    }
  }
  for (const form of forms) {
    for (const harm of Object.keys(ZONE_HARMS)) {
      await suffer({ form, version: 1, who: 'zone', harm });
    }
  }
  for (const call of calls.kinds) {
    for (let nth = 1; nth <= MOST_CALLS; nth++) {
      const [form, code] = [forms[nth % forms.length]!, CODES[nth % CODES.length]!];
      if (!(await suffer({ form, version: 1, who: 'server', call, nth, code }))) {
        break;
      }
    }
  }
  backend.close();
  const problem = await countersProblem(site);
  if (problem !== undefined) {
    harms.push({ case: one, fault: { form: 'plain', version: 1, who: 'client', of: 'sent', after: 0, how: 'close' }, problem });
  }
  return { faults, harms };
}

/** Waits until the server counts nobody but who asks; gives what it counts for ever. */
async function countersProblem(site: Site): Promise<string | undefined> {
  const at = transport(site, 'plain');
  const request = { method: 'GET', target: '/counters', version: '1.1', fields: [['Connection', 'close']] } as const;
  let last = '';
  for (let tries = 0; tries < 100; tries++) {
    const { responses } = await converse(at, { requests: [request] }, 'none.test');
    last = responses[0]?.body.toString('latin1') ?? '';
    if (/^Active connections: 1 \n[\s\S]*Reading: 0 Writing: 1 Waiting: 0 $/m.test(last)) {
      return undefined;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return `it goes on to count ${last.replaceAll('\n', ' ')}`;
}

import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { filesBelow, type Import, imports, root } from './source-files.js';

/**
 * The floors of the house, from the ground up. A room is a folder, or a file that stands beside the folders and puts them together. An
 * import, of types too, goes down: from a room to a room of a lower floor. Rooms of one floor do not know each other.
 */
const FLOORS: readonly (readonly string[])[] = [
  // What master and workers have in common.
  ['shared/collection', 'shared/text'],
  ['shared/address', 'shared/config/language', 'shared/regex', 'shared/system', 'shared/time'],
  ['shared/files', 'shared/native', 'shared/value'],
  ['shared/log'],
  ['shared/zone'],
  ['shared/config'],
  ['shared/net/options'],
  ['shared/net'],
  ['shared/net/uring'],
  ['shared/net/engine', 'shared/ipc'],
  // What knows no request: bytes and texts, addresses, time and files, the syntax of heads, names looked up in DNS, sockets.
  [
    'worker/address',
    'worker/bytes',
    'worker/digest',
    'worker/jose',
    'worker/fleet',
    'worker/password',
    'worker/text',
    'worker/time',
    'worker/trace',
    'worker/version.ts',
    'worker/process-settings.ts',
    'worker/orphan.ts',
    'worker/questions.ts',
    'worker/net/options',
  ],
  ['worker/files', 'worker/lookup', 'worker/resolver', 'worker/http/syntax'],
  ['worker/net', 'worker/http/fields', 'worker/http/http3-frames'],
  ['worker/net/uring', 'worker/net/openssl'],
  ['worker/net/quic'],
  ['worker/net/engine'],
  ['worker/env.ts'],
  // A client, and what it wants done, as far as http and stream are the same.
  ['worker/task'],
  ['worker/connections'],
  // The request and its life: the contracts of exchanges, stages, phases and locations.
  ['worker/http/request', 'worker/http/http2-frames/hpack', 'worker/http/http3-frames/qpack', 'worker/upstream/response'],
  [
    'worker/http/http2-frames',
    'worker/http/connection',
    'worker/http/limits',
    'worker/http/trace',
    'worker/tls',
    'worker/upstream/balancing',
    'worker/lifecycle.ts',
  ],
  // The session, stream's counterpart of the request.
  ['worker/stream/session'],
  ['worker/module.ts'],
  [
    'worker/listening',
    'worker/http/headers',
    'worker/resolver/directive',
    'worker/upstream/connection',
    'worker/upstream/settings',
    'worker/begin-process.ts',
  ],
  ['worker/upstream/http2', 'worker/main.ts'],
  ['worker/http/body', 'worker/http/files', 'worker/http/serving', 'worker/upstream/group'],
  ['worker/http/multiplexed'],
  // The protocols that bring requests in, and the exchange with backends.
  ['worker/http/http1', 'worker/http/http2', 'worker/http/http3', 'worker/upstream/exchange', 'worker/upstream/health'],
  ['worker/http/listening', 'worker/stream/listening', 'worker/upstream/tls', 'worker/cache'],
  ['worker/upstream/directives', 'worker/acme'],
  ['worker/cgi', 'worker/status'],
  ['worker/js'],
  ['worker/js/handlers', 'worker/jwks'],
  ['worker/modules'],
  // Composition: what names the modules.
  ['worker/modules/index.ts', 'worker/build-settings.ts'],
  ['worker/language.ts', 'worker/build-http.ts', 'worker/build-stream.ts'],
  ['worker/serve.ts', 'worker/cache-process', 'worker/acme-process'],
  ['worker/roles.ts'],
  // The master, which knows no worker's code: it gets the parts that it runs.
  ['master/command-line', 'master/processes', 'master/history', 'master/canary', 'master/executable'],
  ['master/cycle', 'master/old-node.ts', 'master/starts-server.ts'],
  ['master/main.ts'],
  ['master/operations'],
  // The command line, which puts the program together and has all its tools.
  ['tools/first-node.ts'],
  ['tools/undecided.ts', 'tools/ring-needs.ts'],
  ['tools/configuration.ts', 'tools/format', 'tools/logs'],
  ['tools/diff', 'tools/lint', 'tools/migration', 'tools/rehearsal'],
  ['tools/editor', 'tools/explain'],
  ['tools/cases'],
  ['tools/subcommands'],
  ['tools/programs'],
  ['tools/run.ts', 'tools/package.ts'],
  ['tools/parts.ts'],
];

/** Whose code runs where: the rooms below src/shared know nothing else, master and workers only that; the command line knows them all. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  shared: ['shared'],
  worker: ['worker', 'shared'],
  master: ['master', 'shared'],
  tools: ['tools', 'master', 'worker', 'shared'],
};

const all = imports();
const within = all.filter(({ to }) => /^(shared|master|worker|tools)\//.test(to));
const packages = all.filter(({ to }) => !/^(shared|master|worker|tools)\//.test(to));
const show = ({ from, to }: Import): string => `${from} -> ${to}`;
const top = (file: string): string => file.slice(0, file.indexOf('/'));
const moduleOf = (file: string): string | undefined => /^worker\/modules\/([^/]+)\//.exec(file)?.[1];

/** The room that a file stands in. */
function roomOf(file: string): string {
  if (file === 'worker/modules/index.ts') {
    return file;
  }
  if (file.startsWith('worker/modules/')) {
    return 'worker/modules';
  }
  return /^(master|worker|tools)\/[^/]+$/.test(file) ? file : dirname(file);
}

const floorOf = new Map(FLOORS.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));

/** The arrows that do not go down. */
const notDown = (arrows: readonly Import[]): string[] =>
  arrows
    .filter(({ from, to }) => roomOf(from) !== roomOf(to) && !(floorOf.get(roomOf(from))! > floorOf.get(roomOf(to))!))
    .map((arrow) => `${show(arrow)} (floor ${floorOf.get(roomOf(arrow.from))} to ${floorOf.get(roomOf(arrow.to))})`);

/** A circle of files that need each other at run time, as a way round it; undefined when there is none. */
function circle(arrows: readonly Import[]): string[] | undefined {
  const next = new Map<string, string[]>();
  for (const { from, to, typeOnly } of arrows) {
    if (!typeOnly) {
      next.set(from, [...(next.get(from) ?? []), to]);
    }
  }
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (file: string): string[] | undefined => {
    if (done.has(file)) {
      return undefined;
    }
    const seen = way.indexOf(file);
    if (seen !== -1) {
      return [...way.slice(seen), file];
    }
    way.push(file);
    for (const to of next.get(file) ?? []) {
      const found = visit(to);
      if (found !== undefined) {
        return found;
      }
    }
    way.pop();
    done.add(file);
    return undefined;
  };
  for (const file of next.keys()) {
    const found = visit(file);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

t.test('the imports are found', async (t) => {
  t.ok(within.length > 1000);
  t.ok(within.some(({ from, to }) => from === 'worker/modules/proxy/index.ts' && to === 'worker/module.ts'));
});

t.test('every imported file exists', async (t) => {
  const files = new Set(filesBelow('src', '.ts'));
  t.strictSame(within.filter(({ to }) => !files.has(to)).map(show), []);
});

t.test('every room has its floor', async (t) => {
  const rooms = new Set(filesBelow('src', '.ts').map(roomOf));
  t.strictSame([...rooms].sort(), [...floorOf.keys()].sort());
  for (const [floor, names] of [...FLOORS.entries()].reverse()) {
    t.comment(`floor ${floor}: ${names.join('  ')}`);
  }
});

t.test('arrows go down', async (t) => {
  t.strictSame(notDown(within), []);
  const up = { from: 'worker/http/request/finalize.ts', to: 'worker/upstream/exchange/pipe.ts', typeOnly: true };
  t.equal(notDown([up]).length, 1, 'one that goes up is found');
  const across = { from: 'worker/http/files/open-file.ts', to: 'worker/http/body/rate.ts', typeOnly: false };
  t.equal(notDown([across]).length, 1, 'so is one that stays on its floor');
});

t.test('no files need each other in a circle', async (t) => {
  t.equal(circle(within), undefined);
  const back = { from: 'worker/http/request/codes.ts', to: 'worker/http/request/request-life.ts', typeOnly: false };
  t.ok(circle([...within, back]), 'one more arrow that closes a circle is found');
});

/**
 * Objects that consist of several files: these name the types of each other, and are read as one. `*` stands for the
 * files of a room that is one object.
 */
const TOGETHER: readonly (readonly string[])[] = [
  ['worker/task/client-task.ts', 'worker/task/protocol-runtime.ts'],
  // A request and its life.
  ['worker/http/request/*'],
  ['worker/stream/session/*'],
  ['worker/upstream/balancing/peer.ts', 'worker/upstream/balancing/membership.ts', 'worker/upstream/balancing/rotation.ts'],
  ['worker/upstream/connection/connection.ts', 'worker/upstream/connection/channel.ts'],
  // A connection to a backend with its streams, and the connections of a client with theirs.
  ['worker/upstream/http2/*'],
  ['worker/http/http2/*'],
  ['worker/http/http3/*'],
  // A request's business with its backends.
  ['worker/upstream/exchange/*'],
  // A QUIC connection with its streams, and the endpoint that finds it.
  ['worker/net/quic/*'],
  ['worker/cache/disk-cache.ts', 'worker/cache/index-zone.ts'],
  ['worker/cache/location-cache.ts', 'worker/cache/lock-jobs.ts'],
  ['worker/modules/foreign.ts', 'worker/modules/more-foreign.ts', 'worker/modules/other-products.ts'],
  ['worker/modules/ssi/page.ts', 'worker/modules/ssi/commands.ts', 'worker/modules/ssi/include.ts'],
  ['worker/modules/stream-proxy/session-proxy.ts', 'worker/modules/stream-proxy/flow.ts'],
];

/** Files that know each other in a circle, by their types too: each such group as a whole. The algorithm is Tarjan's. */
function groups(arrows: readonly Import[]): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to } of arrows) {
    next.set(from, [...(next.get(from) ?? []), to]);
  }
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const number = order.size;
    order.set(file, number);
    lowest.set(file, number);
    stack.push(file);
    for (const to of next.get(file) ?? []) {
      const seen = order.has(to) ? (stack.includes(to) ? order.get(to)! : number) : visit(to);
      lowest.set(file, Math.min(lowest.get(file)!, seen));
    }
    if (lowest.get(file) === number) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1) {
        found.push(group.sort());
      }
    }
    return lowest.get(file)!;
  };
  for (const file of next.keys()) {
    if (!order.has(file)) {
      visit(file);
    }
  }
  return found;
}

/** The groups that are no part of one row of {@link TOGETHER}, and the rows that no group is part of. */
function strangers(arrows: readonly Import[]): string[] {
  const all = groups(arrows);
  const within = (row: readonly string[], group: readonly string[]): boolean =>
    group.every((file) => row.some((name) => name === file || name === `${dirname(file)}/*`));
  return [
    ...all.filter((group) => !TOGETHER.some((row) => within(row, group))).map((group) => group.join(' ')),
    ...TOGETHER.filter((row) => !all.some((group) => within(row, group))).map((row) => `no longer: ${row.join(' ')}`),
  ];
}

t.test('files that know the types of each other are parts of one object', async (t) => {
  t.strictSame(strangers(within), []);
  const back = { from: 'shared/log/log-target.ts', to: 'shared/log/error-log.ts', typeOnly: true };
  t.equal(strangers([...within, back]).length, 1, 'one more arrow that closes a circle of types is found');
});

t.test('shared imports nothing else, master and worker import shared, the command line imports all', async (t) => {
  const foreign = (arrows: readonly Import[]) => arrows.filter(({ from, to }) => !MAY_IMPORT[top(from)]!.includes(top(to)));
  t.strictSame(foreign(within).map(show), []);
  const up = { from: 'master/main.ts', to: 'worker/serve.ts', typeOnly: true };
  t.equal(foreign([up]).length, 1, 'an import of types is found, too');
});

t.test('a file exports what it has itself', async (t) => {
  // The package's face to programs is the one file that passes on what others have.
  const passing = filesBelow('src', '.ts').filter(
    (file) => file !== 'tools/package.ts' && /^export (type )?(\*|\{)/m.test(readFileSync(`${root}src/${file}`, 'utf8')),
  );
  t.strictSame(passing, []);
});

t.test('no module imports another', async (t) => {
  const between = within.filter(({ from, to }) => {
    const [a, b] = [moduleOf(from), moduleOf(to)];
    return a !== undefined && b !== undefined && a !== b;
  });
  t.strictSame(between.map(show), []);
});

/** Packages that the build puts into a file of ours, so that nobody has to install them. */
const BUNDLED = [
  '@opentelemetry/otlp-exporter-base',
  '@opentelemetry/otlp-grpc-exporter-base',
  '@opentelemetry/otlp-transformer',
  '@xmldom/xmldom',
  'sucrase',
  'vscode-languageserver',
  'vscode-languageserver-textdocument',
];

t.test('a package is imported by one file', async (t) => {
  const importers = new Map<string, Set<string>>();
  for (const { from, to } of packages) {
    if (to.startsWith('node:')) {
      continue;
    }
    const name =
      to === 'winston-transport' ? 'winston' : to.replace(/^(?:(vscode-[^/]+|@opentelemetry\/[^/]+)\/node(-http)?|(sucrase)\/.*)$/, '$1$3');
    importers.set(name, (importers.get(name) ?? new Set()).add(from));
  }
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const named = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...BUNDLED];
  t.strictSame([...importers.keys()].sort(), named.sort());
  for (const [name, files] of importers) {
    t.equal(files.size, 1, `${name}: ${[...files].join(' ')}`);
  }
  const page = readFileSync(`${root}docs/dependencies.md`, 'utf8');
  for (const [name, files] of importers) {
    t.match(page, new RegExp(`^\\| ${name} \\|.*\`src/${[...files][0]}\``, 'm'), `docs/dependencies.md says where ${name} is`);
  }
});

t.test("HTTP is the server's own", async (t) => {
  // The package for ACME speaks by Node's client for HTTPS, in a process that no request comes to.
  const acme = 'worker/acme-process/client.ts -> node:https';
  // Applications for node:http extend its request and response, whose classes they get without its connections.
  const handler = 'worker/js/handlers/node-http.ts -> node:http';
  t.strictSame(
    packages
      .filter(({ to }) => /^(node:)?(http|https|http2)$/.test(to))
      .map(show)
      .sort(),
    [acme, handler],
  );
});

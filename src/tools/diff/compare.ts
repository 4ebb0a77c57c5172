import { In } from '../../shared/config/context.js';
import type { NamedDigest } from '../../shared/config/named-digest.js';
import type { ServerInfo } from '../../worker/listening/listeners.js';
import type { UpstreamInfo } from '../../worker/upstream/group/group-config.js';
import { compareServers, pairServers, serverTitle } from './servers.js';
import { SettingsComparison } from './settings.js';
import type { Side } from './side.js';
import type { Difference } from './words.js';

/** One thing that a reload would change. Texts are latin1. */
export interface Change extends Difference {
  /** What it is about: `processes`, `listener`, `http`, `upstream NAME`, `server NAME (ADDRESS)`, `every server`, `certificate`, `file`. */
  readonly subject: string;
  /** The location within a server, as its block begins; undefined for the server as a whole. */
  readonly location: string | undefined;
}

/**
 * What a reload from one configuration to another would change, in the order in which a person wants to know. Compares what is in force,
 * location by location; the texts do not matter. `defaultOf`: the default value of a directive, where the reference names one.
 */
export function compareConfigurations(before: Side, after: Side, defaultOf: (name: string) => string | undefined): readonly Change[] {
  const settings = new SettingsComparison(before, after, defaultOf);
  const changes: Change[] = [];
  const tell = (subject: string, found: readonly Difference[], location?: string): void => {
    changes.push(...found.map((difference) => ({ subject, location, ...difference })));
  };
  const roots = { before: before.loaded.root, after: after.loaded.root };
  tell('processes', [...settings.inForce(roots, ['process']), ...settings.others(roots)]);
  tell('listener', sockets(before.sockets, after.sockets));
  for (const [context, name] of [
    [In.HTTP, 'http'],
    [In.STREAM, 'stream'],
  ] as const) {
    const [old, now] = [before.child(roots.before, context), after.child(roots.after, context)];
    if (old !== undefined && now !== undefined) {
      tell(name, [...settings.inForce({ before: old, after: now }, ['main']), ...settings.others({ before: old, after: now })]);
    }
    upstreams(settings, name, tell);
  }
  servers(settings, tell);
  tell('default server', defaults(before, after));
  tell('certificate', namedFiles(before.named, after.named, true));
  tell('file', namedFiles(before.named, after.named, false));
  tell('name', hosts(before.hosts, after.hosts));
  return changes;
}

type Tell = (subject: string, found: readonly Difference[], location?: string) => void;

function sockets(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Difference[] {
  const found: Difference[] = [];
  for (const [from, options] of before) {
    const now = after.get(from);
    if (now === undefined) {
      found.push({ mark: '-', name: 'listen', from, to: undefined, text: `${from} is closed` });
    } else if (now !== options) {
      found.push({
        mark: '~',
        name: 'listen',
        from: `${from} ${options}`,
        to: `${from} ${now}`,
        text: `${from}: ${options} becomes ${now}`,
      });
    }
  }
  for (const to of after.keys()) {
    if (!before.has(to)) {
      found.push({ mark: '+', name: 'listen', from: undefined, to, text: `${to} is opened` });
    }
  }
  return found;
}

function upstreams(settings: SettingsComparison, protocol: 'http' | 'stream', tell: Tell): void {
  const groups = (side: Side) => {
    const block = side.child(side.loaded.root, protocol === 'http' ? In.HTTP : In.STREAM);
    const inside = (block?.children ?? []).filter(({ context }) => context === In.UPSTREAM || context === In.STREAM_UPSTREAM);
    return new Map(inside.map((group) => [(group.info as UpstreamInfo).name, group]));
  };
  const [old, now] = [groups(settings.before), groups(settings.after)];
  const title = (name: string): string => `${protocol === 'stream' ? 'stream ' : ''}upstream ${name}`;
  for (const [from, before] of old) {
    const after = now.get(from);
    if (after === undefined) {
      tell(title(from), [{ mark: '-', name: 'upstream', from, to: undefined, text: 'is gone' }]);
    } else {
      tell(title(from), [...settings.inForce({ before, after }, ['upstream']), ...settings.others({ before, after })]);
    }
  }
  for (const [to, group] of now) {
    if (!old.has(to)) {
      const lines = settings.after.own(group).map(({ name, args }) => [name, ...args].join(' '));
      tell(title(to), [{ mark: '+', name: 'upstream', from: undefined, to, text: `is new: ${lines.join('; ')}` }]);
    }
  }
}

function servers(settings: SettingsComparison, tell: Tell): void {
  const { before, after } = settings;
  const pairs = pairServers(before.servers, after.servers);
  const olds = new Set(pairs.map(([old]) => old));
  const news = new Map(pairs.map(([old, now]) => [now, old]));
  for (const server of before.servers) {
    if (!olds.has(server)) {
      const from = serverTitle(server);
      tell(from, [{ mark: '-', name: 'server', from, to: undefined, text: 'is gone' }]);
    }
  }
  const results = after.servers.map((server) => {
    const old = news.get(server);
    return { server, found: old === undefined ? undefined : compareServers(settings, old, server) };
  });
  const compared = results.flatMap(({ found }) => (found === undefined ? [] : [found]));
  const shared =
    compared.length < 2
      ? []
      : compared[0]!.everywhere.filter(({ text }) => compared.every(({ everywhere }) => everywhere.some((each) => each.text === text)));
  tell('every server', shared);
  for (const { server, found } of results) {
    const title = serverTitle(server);
    if (found === undefined) {
      tell(title, [
        { mark: '+', name: 'server', from: undefined, to: title, text: `is new${withLocations(server.block.children.length)}` },
      ]);
      continue;
    }
    tell(
      title,
      found.everywhere.filter(({ text }) => !shared.some((each) => each.text === text)),
    );
    for (const { location, difference } of found.placed) {
      tell(title, [difference], location);
    }
  }
}

const withLocations = (blocks: number): string => (blocks === 0 ? '' : `, with ${blocks} location${blocks === 1 ? '' : 's'}`);

function defaults(before: Side, after: Side): Difference[] {
  const found: Difference[] = [];
  const title = (side: Side, server: ServerInfo): string => serverTitle(side.servers.find(({ block }) => block === server.block)!);
  const name = (server: ServerInfo): string => server.names.map(({ text }) => text).join(' ');
  for (const [address, server] of after.defaults) {
    const was = before.defaults.get(address);
    if (was !== undefined && name(was) !== name(server)) {
      const [from, to] = [title(before, was), title(after, server)];
      found.push({ mark: '~', name: 'listen', from, to, text: `for other names on ${address}: ${to} instead of ${from}` });
    }
  }
  return found;
}

type NamedDigests = Readonly<Record<string, NamedDigest>>;

/** What has become of files that settings name: of certificates, or of others. */
function namedFiles(before: NamedDigests, after: NamedDigests, certificates: boolean): Difference[] {
  const found: Difference[] = [];
  const about = ({ certificate, sha256 }: NamedDigest): string =>
    certificate === undefined
      ? `content ${sha256.slice(0, 12)}`
      : `for ${certificate.subject}, valid until ${certificate.until.slice(0, 10)}`;
  for (const [path, now] of Object.entries(after)) {
    const was = before[path];
    if (was !== undefined && was.sha256 !== now.sha256 && (now.certificate !== undefined) === certificates) {
      const [from, to] = [about(was), about(now)];
      found.push({ mark: '~', name: 'file', from, to, text: `${path} has another content: ${to}; was ${from}` });
    }
  }
  return found;
}

function hosts(before: Readonly<Record<string, readonly string[]>>, after: Readonly<Record<string, readonly string[]>>): Difference[] {
  const found: Difference[] = [];
  for (const [host, now] of Object.entries(after)) {
    const [from, to] = [before[host], now].map((addresses) => addresses && [...addresses].sort().join(', '));
    if (from !== undefined && from !== to) {
      found.push({ mark: '~', name: 'host', from, to, text: `${host} is ${to} instead of ${from}` });
    }
  }
  return found;
}

import type { Block } from '../../../shared/config/block.js';
import { meant } from '../../../shared/config/shown-texts.js';
import type { LocationInfo } from '../../http/request/location-info.js';

/** How many blocks are told, at most. */
const MOST = 2000;

/** A `server`, `location` or `upstream` block: where it stands, and what belongs to it. */
export interface Outlined {
  /** The line that opens it, such as `location /api/`. */
  readonly text: string;
  readonly file: string;
  readonly line: number;
  /** The names under which it is counted. */
  readonly zone?: string;
  /** The group that its requests are passed on to. */
  readonly upstream?: string;
  readonly inside: readonly Outlined[];
}

/** What the configuration consists of, for links from the figures to its lines. */
export interface Outline {
  readonly servers: readonly Outlined[];
  readonly upstreams: readonly Outlined[];
  readonly stream: { readonly servers: readonly Outlined[]; readonly upstreams: readonly Outlined[] };
}

/** The outline of a whole configuration. */
export function configurationOutline(root: Block): Outline {
  const left = { blocks: MOST };
  const of = (protocol: string, name: string): Outlined[] =>
    root.children
      .filter(({ node }) => node?.name === protocol)
      .flatMap(({ children }) => children.filter(({ node }) => node?.name === name))
      .flatMap((block) => outlined(block, left));
  return {
    servers: of('http', 'server'),
    upstreams: of('http', 'upstream'),
    stream: { servers: of('stream', 'server'), upstreams: of('stream', 'upstream') },
  };
}

function outlined({ node, info, children }: Block, left: { blocks: number }): Outlined[] {
  if (node === undefined || left.blocks-- <= 0) {
    return [];
  }
  const { name, args, pos } = node;
  const named = zoneOf(node.block ?? []);
  const of = (info ?? {}) as Partial<LocationInfo>;
  const backend = name === 'location' ? of.backend?.host : undefined;
  // A server is counted by its first name without a word.
  const zone = named ?? (name === 'server' ? (of.serverNames?.[0]?.name ?? '_') : name === 'upstream' ? args[0] : undefined);
  const shown = name === 'server' ? `server ${(of.serverNames ?? []).map((each) => each.name).join(' ')}` : [name, ...args].join(' ');
  return [
    {
      text: meant(shown.trim()),
      file: meant(pos.file),
      line: pos.line,
      ...(zone === undefined || zone === 'off' ? {} : { zone: meant(zone) }),
      ...(backend === undefined ? {} : { upstream: meant(backend) }),
      inside: children.flatMap((child) => (child.node?.name === 'location' ? outlined(child, left) : [])),
    },
  ];
}

function zoneOf(nodes: NonNullable<NonNullable<Block['node']>['block']>): string | undefined {
  for (const node of nodes) {
    if ('name' in node && node.name === 'status_zone') {
      return node.args[0];
    }
  }
  return undefined;
}

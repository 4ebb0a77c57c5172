import { byteText } from '../../shared/text/native-text.js';
import { type ApiEndpoint, endpoints } from './api.js';
import { answerKeyvals } from './api-keyvals.js';
import { type Answer, ApiRefusal, apiError, type Question } from './api-question.js';
import { answerServers } from './api-servers.js';
import type { StatusSource } from './source.js';

/** The oldest and the newest version whose requests are understood; all get the shapes of the newest one. */
const FIRST_VERSION = 1;
const LAST_VERSION = 9;

/** The paths below a version in NGINX Plus's order; ours follow. */
const PATHS = [
  'nginx',
  'processes',
  'connections',
  'slabs',
  'http/requests',
  'http/server_zones',
  'http/location_zones',
  'http/caches',
  'http/limit_conns',
  'http/limit_reqs',
  'http/keyvals',
  'http/upstreams',
  'stream/server_zones',
  'stream/limit_conns',
  'stream/keyvals',
  'stream/upstreams',
  'resolvers',
  'ssl',
  'workers',
];

const versions = (): number[] => Array.from({ length: LAST_VERSION - FIRST_VERSION + 1 }, (_, i) => FIRST_VERSION + i);

/** What the API answers from the counters. undefined: there is no such path here. */
export function answerApi(source: StatusSource, question: Question): Answer | undefined {
  try {
    return answer(source, question);
  } catch (error) {
    if (error instanceof ApiRefusal) {
      return error.answer;
    }
    throw error;
  }
}

/** Whether the answer has numbers that workers publish now and then: then it has to wait until they have. */
export const isCounted = ({ path }: Question): boolean =>
  !/^\d*$|^\d+\/(?:nginx|processes|slabs|(?:http|stream)\/(?:keyvals|upstreams\/[^/]+\/servers))(?:\/|$)/.test(path);

function answer(source: StatusSource, question: Question): Answer | undefined {
  const { method, path, write } = question;
  if (path === '') {
    return method === 'GET' ? { status: 200, body: versions() } : apiError(405, 'MethodDisabled', 'method disabled');
  }
  const [version, ...rest] = path.split('/');
  if (!/^\d+$/.test(version!) || Number(version) < FIRST_VERSION || Number(version) > LAST_VERSION) {
    return apiError(404, 'UnknownVersion', 'unknown version');
  }
  const below = rest.join('/');
  const special = answerServers(source, question, below) ?? answerKeyvals(source, question, below);
  if (special !== undefined) {
    return special;
  }
  const list = listOf(source, below);
  if (list !== undefined) {
    return method === 'GET' ? { status: 200, body: list } : apiError(405, 'MethodDisabled', 'method disabled');
  }
  for (const [name, endpoint] of endpoints) {
    if (name.startsWith('stream/') && source.http.stream === undefined) {
      continue;
    }
    if (below !== name && !(endpoint.all !== undefined && below.startsWith(`${name}/`))) {
      continue;
    }
    const item = below === name ? undefined : below.slice(name.length + 1);
    if (method === 'GET') {
      return read(source, endpoint, item, question);
    }
    if (method !== 'DELETE' || !write || endpoint.reset === undefined) {
      return apiError(405, 'MethodDisabled', 'method disabled');
    }
    if (item !== undefined && !Object.hasOwn(endpoint.all!(source), item)) {
      return apiError(404, ...endpoint.missing!);
    }
    endpoint.reset(source, item);
    return { status: 204, body: undefined, did: `counts ${byteText(below)} anew` };
  }
  return undefined;
}

/** The names below a path that is no endpoint itself; undefined where there are none. */
function listOf({ http }: StatusSource, path: string): string[] | undefined {
  const prefix = path === '' ? '' : `${path}/`;
  const names = new Set<string>();
  for (const name of [...PATHS, ...endpoints.keys()]) {
    if (name.startsWith(prefix) && name !== path && (http.stream !== undefined || !name.startsWith('stream/'))) {
      names.add(name.slice(prefix.length).split('/')[0]!);
    }
  }
  return names.size === 0 ? undefined : [...names];
}

function read(source: StatusSource, { one, all, missing, list }: ApiEndpoint, item: string | undefined, { fields }: Question): Answer {
  const wanted = fields === undefined ? undefined : fields.split(',').filter((name) => name !== '');
  if (one !== undefined) {
    return { status: 200, body: only(one(source), wanted) };
  }
  const found = all!(source);
  if (item !== undefined) {
    const object = Object.hasOwn(found, item) ? found[item] : undefined;
    return object === undefined ? apiError(404, ...missing!) : { status: 200, body: only(object, wanted) };
  }
  if (list) {
    return { status: 200, body: Object.values(found).map((object) => only(object, wanted)) };
  }
  if (wanted?.length === 0) {
    return { status: 200, body: Object.keys(found) };
  }
  return { status: 200, body: Object.fromEntries(Object.entries(found).map(([name, object]) => [name, only(object, wanted)])) };
}

/** An object with these fields alone. */
function only(object: object, fields: readonly string[] | undefined): object {
  return fields === undefined ? object : Object.fromEntries(Object.entries(object).filter(([name]) => fields.includes(name)));
}

export const notFound = (): Answer => apiError(404, 'PathNotFound', 'path not found');

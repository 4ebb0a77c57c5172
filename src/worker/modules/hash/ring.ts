import { crc32Finish, crc32Start, crc32Update } from '../../digest/crc32.js';
import type { PeerSet } from '../../upstream/balancing/peer.js';

/** Points of a consistent hash for each unit of weight. */
const POINTS = 160;

/** Servers on a ring of hashes, compatible with Cache::Memcached::Fast. nginx: ngx_http_upstream_update_chash. */
export class HashRing {
  readonly #hashes: Uint32Array;
  readonly #servers: readonly string[];

  constructor(set: PeerSet) {
    const points: { hash: number; server: string }[] = [];
    for (const { server, weight } of set.peers) {
      const [host, port] = hostAndPort(server);
      const base = crc32Update(crc32Update(crc32Start, `${host}\0`), port);
      let previous = 0;
      for (let i = 0; i < weight * POINTS; i++) {
        const bytes = String.fromCharCode(previous & 255, (previous >>> 8) & 255, (previous >>> 16) & 255, previous >>> 24);
        previous = crc32Finish(crc32Update(base, bytes));
        points.push({ hash: previous, server });
      }
    }
    points.sort((a, b) => a.hash - b.hash);
    const unique = points.filter((point, i) => i === 0 || point.hash !== points[i - 1]!.hash);
    this.#hashes = Uint32Array.from(unique, ({ hash }) => hash);
    this.#servers = unique.map(({ server }) => server);
  }

  /** The number of the first point at or behind a hash. nginx: ngx_http_upstream_find_chash_point. */
  find(hash: number): number {
    let low = 0;
    let high = this.#hashes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#hashes[middle]! < hash) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The server at a point; numbers past the end go round. */
  server(point: number): string {
    return this.#servers[point % this.#servers.length]!;
  }
}

function hostAndPort(server: string): readonly [string, string] {
  if (server.slice(0, 5).toLowerCase() === 'unix:') {
    return [server.slice(5), ''];
  }
  const found = /^(.*):(\d*)$/s.exec(server);
  return found === null ? [server, ''] : [found[1]!, found[2]!];
}

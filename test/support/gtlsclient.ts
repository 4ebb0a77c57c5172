import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoQuic } from '../../src/worker/net/openssl/quic-library.js';

const PROGRAM = '/usr/bin/gtlsclient';

/** Why tests with ngtcp2's client are skipped; false where they can run. */
export const noQuicClient: string | false =
  whyNoQuic() !== ''
    ? `there is no QUIC: ${whyNoQuic()}`
    : existsSync(PROGRAM)
      ? false
      : `there is no ${PROGRAM} (Debian's package ngtcp2-client)`;

/** What came of the requests of one connection, in their order. */
export interface QuicResponses {
  /** The fields of responses, `:status` among them; of several with one name the last. */
  readonly heads: readonly Readonly<Record<string, string>>[];
  /** What was downloaded, by the last parts of the paths. */
  readonly bodies: Readonly<Record<string, string>>;
  readonly output: string;
}

/** Sends requests over one connection of QUIC. Paths end with the names of files; a host other than `localhost` may stand in front. */
export function quicGet(
  port: number,
  paths: readonly string[],
  options: readonly string[] = [],
  host = '127.0.0.1',
): Promise<QuicResponses> {
  const dir = mkdtempSync(join(tmpdir(), 'gtlsclient-'));
  const args = ['--exit-on-all-streams-close', '--timeout=10s', `--download=${dir}`, ...options, host, String(port)];
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, [...args, ...paths.map((path) => `https://${path.startsWith('/') ? 'localhost' : ''}${path}`)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('latin1').on('data', (text: string) => (output += text));
    }
    child.on('error', reject);
    child.on('close', () => {
      const heads = new Map<number, Record<string, string>>();
      for (const [, stream, name, value] of output.matchAll(/^http: stream 0x([0-9a-f]+) \[(:?[^:\n]+): (.*)\]/gm)) {
        const id = Number.parseInt(stream!, 16);
        const head = heads.get(id) ?? {};
        head[name!] = value!;
        heads.set(id, head);
      }
      const bodies: Record<string, string> = {};
      for (const path of paths) {
        const name = path.replace(/.*\//, '');
        bodies[name] = existsSync(`${dir}/${name}`) ? readFileSync(`${dir}/${name}`, 'latin1') : '';
      }
      rmSync(dir, { recursive: true });
      resolve({ heads: [...heads].sort(([a], [b]) => a - b).map(([, head]) => head), bodies, output });
    });
  });
}

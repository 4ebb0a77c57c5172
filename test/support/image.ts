import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { serverCommand } from './binary.js';
import { type Foreground, startForeground } from './foreground.js';

const root = realpathSync(new URL('../../', import.meta.url).pathname).replace(/\/$/, '');

/** What a stage of the Dockerfile says, with that of the stages before it. */
interface Stage {
  /** The lines RUN and COPY, as commands for a shell in the image. */
  readonly commands: readonly string[];
  readonly settings: ReadonlyMap<string, string>;
}

/** Reads a stage, the last one unless it is named; its first stage is the one that is not `build`. */
export function readStage(dockerfile: string, wanted?: string): Stage {
  const stages = new Map<string, { commands: string[]; settings: Map<string, string> }>();
  let current = { commands: [] as string[], settings: new Map<string, string>() };
  let name = '';
  for (const line of dockerfile.replace(/\\\n/g, ' ').split('\n')) {
    const [, word = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (word === 'FROM') {
      const [, from = '', as = ''] = /^(\S+)(?: AS (\S+))?/.exec(rest)!;
      const before = stages.get(from);
      current = { commands: [...(before?.commands ?? [])], settings: new Map(before?.settings) };
      name = as;
      stages.set(name, current);
    } else if (word === 'RUN') {
      current.commands.push(rest);
    } else if (word === 'COPY') {
      current.commands.push(copyCommand(rest));
    } else if (word !== '') {
      current.settings.set(word, rest);
    }
  }
  return stages.get(wanted ?? '')!;
}

/** What is built is taken from the checkout: its packages by a mount, since they are large. */
function copyCommand(text: string): string {
  const words = text.replace(/^--from=build\s+/, '').split(/\s+/);
  const to = words.pop()!;
  const copies = words.map((from) => {
    const source = `${root}/${from.replace(/^\/src\//, '')}`;
    return source.endsWith('node_modules')
      ? `mkdir -p '${to}' && mount --bind '${source}' '${to}'`
      : `if [ -d '${source}' ]; then mkdir -p '${to}'; cp -R '${source}/.' '${to}'; else cp '${source}' '${to}'; fi`;
  });
  return [`mkdir -p '${to.endsWith('/') ? to : dirname(to)}'`, ...copies].join(' && ');
}

/** Whether this machine lets a test make a file system, a network and processes of its own. */
export function canRunImages(): boolean {
  return process.getuid?.() === 0 && inNamespaces('true').status === 0;
}

/** Where the image has what the checkout has. */
const INSTALLED = '/usr/lib/sluice';
const ENTER = ['-m', '-n', '-p', '--fork', '--kill-child', '--mount-proc'];

/** The machine's files with a layer over them, in the folder `r`. */
const LAYER = `set -e
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir u w r
mount -t overlay overlay -o lowerdir=/,upperdir=u,workdir=w r
mount --rbind /dev r/dev
mount --rbind /proc r/proc
`;

function inNamespaces(script: string): ReturnType<typeof spawnSync> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-image-'));
  try {
    return spawnSync('unshare', [...ENTER, 'sh', '-c', LAYER + script, 'sh', folder], { encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A container: the server is its process 1, and its network has nothing but itself. */
export interface Container extends Foreground {
  /** Runs a program in the container, as its user. */
  run(...command: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }>;
}

/** Runs a stage as a container engine does, with a root file system that cannot be written; `writable`: folders that can be. */
export function runImage(t: Test, dockerfile: string, stage: string | undefined, writable: readonly string[]): Container {
  const { commands, settings } = readStage(readFileSync(dockerfile, 'utf8'), stage);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-image-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(`${folder}/layer`);
  const [uid, gid] = (settings.get('USER') ?? '0:0').split(':');
  // The checkout may be closed to the image's user.
  const node = dirname(realpathSync(serverCommand().find((word) => /\/node$/.test(word)) ?? process.execPath)).replace(root, INSTALLED);
  const asUser = uid === '0' ? '' : `setpriv --reuid ${uid} --regid ${gid} --clear-groups --no-new-privs --bounding-set -all `;
  const environment = `env -i PATH='${node}':/usr/sbin:/usr/bin:/sbin:/bin`;
  const list = (name: string): string => (JSON.parse(settings.get(name)!) as string[]).map((word) => `'${word}'`).join(' ');
  const script = `${LAYER}
ip link set lo up 2>/dev/null || true
chroot r sh -ec ${quoted(commands.join('\n'))} >&2
${writable.map((path) => `mount -t tmpfs -o uid=${uid} tmpfs r${path}`).join('\n')}
mount -o remount,ro r
exec chroot r ${asUser}${environment} sh -c ${quoted(`cd /; exec ${list('ENTRYPOINT')} ${list('CMD')}`)}
`;
  writeFileSync(`${folder}/start.sh`, script);
  const server = startForeground(t, 'unshare', [...ENTER, 'sh', `${folder}/start.sh`, `${folder}/layer`]);
  const inside = (): string => readFileSync(`/proc/${server.child.pid}/task/${server.child.pid}/children`, 'utf8').trim();
  return {
    ...server,
    async stop(signal) {
      process.kill(Number(inside()), signal);
      return server.end();
    },
    run: (...command) =>
      new Promise((done) => {
        const words = command.map(quoted).join(' ');
        const args = ['-t', inside(), '-m', '-n', '-p', '-r', '-w', 'sh', '-c', `exec ${asUser}${environment} ${words}`];
        const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'pipe'] });
        let said = '';
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding('utf8').on('data', (text: string) => (said += text));
        }
        child.once('close', (code) => done({ code, said }));
      }),
  };
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** What the image says of itself: STOPSIGNAL, the command of HEALTHCHECK. */
export function imageSettings(dockerfile: string, stage?: string): { readonly stop: NodeJS.Signals; readonly health: readonly string[] } {
  const { settings } = readStage(readFileSync(dockerfile, 'utf8'), stage);
  return {
    stop: settings.get('STOPSIGNAL') as NodeJS.Signals,
    health: JSON.parse(/CMD (\[.*\])$/.exec(settings.get('HEALTHCHECK')!)![1]!) as string[],
  };
}

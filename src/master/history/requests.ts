import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { fsPath } from '../../shared/files/fs-path.js';
import { replaceStateFile } from '../../shared/files/state-file.js';
import { byteText } from '../../shared/text/native-text.js';

/** A request that is older (milliseconds) is one whose signal never came. */
const FRESH = 60_000;
/** How many requests are looked at, at most. */
const MOST = 100;

/** What somebody asks the master for, beside the signal HUP, which can say nothing. */
export interface ReloadRequest {
  /** By this the master's answer is known. */
  readonly token: string;
  /** Milliseconds of the wall clock. */
  readonly at: number;
  /** Who asks: `root (uid 0), by sudo from alice`. */
  readonly by: string;
  /** The kept configuration that is to serve; undefined for the operator's own files. */
  readonly rollback?: number;
}

/** A new name for a request. */
export const newToken = (): string => randomBytes(8).toString('hex');

/** Who runs this process. */
export function askedBy(): string {
  const uid = process.getuid?.() ?? 0;
  let name = '';
  try {
    name = byteText(userInfo().username);
  } catch {
    // A user without a name, as containers have them.
  }
  const sudo = process.env.SUDO_USER;
  const own = name === '' ? `uid ${uid}` : `${name} (uid ${uid})`;
  return sudo === undefined || sudo === name
    ? own
    : `${own}, by sudo from ${byteText(sudo)
        .replace(/[^\x21-\x7e]/g, '?')
        .slice(0, 64)}`;
}

/** Leaves a request for the master of a folder. Throws node:fs's errors. Returns the way to take it back. */
export function leaveRequest(folder: string, request: ReloadRequest): () => void {
  const path = `${folder}/request-${request.token}.json`;
  const bytes = Buffer.from(`${JSON.stringify(request)}\n`, 'latin1');
  const { uid } = statSync(fsPath(folder));
  replaceStateFile(path, bytes, uid === process.geteuid?.() ? {} : { owner: { uid, gid: process.getegid!() } });
  return () => rmSync(fsPath(path), { force: true });
}

/** Takes the requests that are there, oldest first. What cannot be read is removed. */
export function takeRequests(folder: string): ReloadRequest[] {
  let names: string[];
  try {
    names = readdirSync(fsPath(folder), 'latin1').filter((name) => /^request-[0-9a-f]+\.json$/.test(name));
  } catch {
    return [];
  }
  const requests: ReloadRequest[] = [];
  for (const name of names.slice(0, MOST)) {
    const path = fsPath(`${folder}/${name}`);
    try {
      const request = JSON.parse(readFileSync(path, 'latin1')) as ReloadRequest;
      if (typeof request.token === 'string' && Math.abs(Date.now() - request.at) < FRESH) {
        requests.push(request);
      }
    } catch {
      // Not whole; nobody waits for an answer to it.
    }
    rmSync(path, { force: true });
  }
  return requests.sort((a, b) => a.at - b.at);
}

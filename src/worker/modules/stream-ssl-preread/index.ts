import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag } from '../../../shared/config/slots.js';
import { type HostParts, validateHost } from '../../http/syntax/host.js';
import { defineModule, defineSharedScope, type StreamVariable } from '../../module.js';
import type { StreamSession } from '../../stream/session/session.js';
import { lastingSlot } from '../../task/client-task.js';
import { AGAIN, DECLINED, OK, type Result } from '../../task/codes.js';
import { HelloRecords, type PrereadHello, protocolName } from './hello.js';

interface Settings {
  on: boolean;
}

const scope = defineSharedScope<Settings>({
  fields: { on: inherit(false) },
  directives: {
    ssl_preread: { in: In.STREAM | In.STREAM_SERVER, args: 'flag', set: flag('on') },
  },
});

/** The records of a session so far. */
class Records {
  /** How much of what the session holds has been looked at. */
  at = 0;
  hello: HelloRecords | undefined = undefined;
}

const HANDSHAKE = 0x16;
const RECORD_HEAD = 5;
const RECORDS = lastingSlot<Records | undefined>();
const HELLO = lastingSlot<PrereadHello | undefined>();

/** As long as nobody knows that it is none, variables are empty, and not without a value. */
const UNREAD: PrereadHello = { protocol: '', serverName: '', alpn: '' };

/** Reads the first message of a TLS client, and chooses the server that it names. nginx: ngx_stream_ssl_preread_handler. */
function preread(s: StreamSession): Result {
  const bytes = s.udp ? undefined : s.preread;
  if (bytes === undefined) {
    return DECLINED;
  }
  if (bytes === null) {
    return AGAIN;
  }
  let records = RECORDS.get(s);
  if (records === undefined) {
    records = new Records();
    RECORDS.set(s, records);
    HELLO.set(s, UNREAD);
  }
  while (bytes.length - records.at >= RECORD_HEAD) {
    const { at } = records;
    if ((bytes[at]! & 0x80) !== 0 && bytes[at + 2] === 1 && (bytes[at + 3] === 0 || bytes[at + 3] === 3)) {
      const version = (bytes[at + 3]! << 8) | bytes[at + 4]!;
      HELLO.set(s, { protocol: protocolName(version), serverName: '', alpn: '' });
      return OK;
    }
    if (bytes[at] !== HANDSHAKE || bytes[at + 1] !== 3) {
      HELLO.set(s, undefined);
      return DECLINED;
    }
    const size = (bytes[at + 3]! << 8) | bytes[at + 4]!;
    const end = at + RECORD_HEAD + size;
    // A record is read as a whole.
    if (bytes.length < end) {
      break;
    }
    records.hello ??= new HelloRecords();
    const hello = records.hello.add(bytes.subarray(at + RECORD_HEAD, end));
    if (hello === 'none') {
      HELLO.set(s, undefined);
      return DECLINED;
    }
    records.at = end;
    const { seen } = records.hello;
    HELLO.set(s, seen);
    if (hello === 'whole') {
      RECORDS.set(s, undefined);
      chooseServer(s, seen.serverName);
      return OK;
    }
  }
  return AGAIN;
}

// nginx: ngx_stream_ssl_preread_servername.
function chooseServer(s: StreamSession, name: string): void {
  const parts: HostParts = { host: '', port: 0 };
  if (name === '' || !validateHost(name, parts)) {
    return;
  }
  const server = s.address.find(parts.host, s);
  if (server !== undefined) {
    s.server = server;
  }
}

const variables: readonly StreamVariable[] = [
  { name: 'ssl_preread_protocol', get: (s) => HELLO.get(s)?.protocol },
  { name: 'ssl_preread_server_name', get: (s) => HELLO.get(s)?.serverName },
  { name: 'ssl_preread_alpn_protocols', get: (s) => HELLO.get(s)?.alpn },
];

/** Looks into a TLS client's hello without ending its TLS. nginx: ngx_stream_ssl_preread_module. */
export const streamSslPrereadModule = defineModule({
  name: 'stream_ssl_preread',
  location: scope,
  stream: {
    variables,
    phases: { preread: ({ on }) => (on ? preread : undefined) },
  },
});

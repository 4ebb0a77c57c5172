import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, isIPv6, type NetConnectOpts, type Socket } from 'node:net';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { errnoCode, errnoText } from '../system/errno.js';
import type { Level } from './level.js';
import type { LogTarget } from './log-target.js';
import { countLost } from './lost-lines.js';
import { type SyslogSpec, syslogHeader } from './syslog.js';

/** Messages that wait while the way to the server opens, and bytes that wait for a slow one; later messages are lost. */
const QUEUE_LIMIT = 1000;
const BYTE_LIMIT = 256 * 1024;
/** Milliseconds before a server that failed is tried again, and between two reports about one server. */
const RETRY = 1000;
const REPORT_INTERVAL = 60_000;

/** A syslog server. Sending never blocks and never throws; what cannot be sent is dropped and reported, at most once a minute. */
export interface SyslogPeer {
  /** Sends one message of a severity from 0 (emerg) to 7 (debug); the text has no line feed. */
  send(severity: number, text: string): void;
  close(): void;
}

/**
 * Opens the way to a server. `address` is the numeric address of `spec.host`; `report` receives failures in nginx's words, for a line of
 * level alert in a log other than this one.
 */
export function openSyslog(spec: SyslogSpec, address: string, report: (message: string) => void): SyslogPeer {
  if (spec.path !== undefined) {
    return new StreamPeer(spec, { path: spec.path }, report);
  }
  return spec.tcp ? new StreamPeer(spec, { host: address, port: spec.port }, report) : new UdpPeer(spec, address, report);
}

/** A target that sends error log lines to a server. nginx: ngx_syslog_writer. */
export function syslogTarget(peer: SyslogPeer, level: Level, json: boolean): LogTarget {
  return { level, json, write: (lineLevel, line) => peer.send(lineLevel - 1, line.slice(0, -1)), close: () => peer.close() };
}

class Reporter {
  readonly #report: (message: string) => void;
  readonly #server: string;
  #last = 0;

  constructor(server: string, report: (message: string) => void) {
    this.#server = server;
    this.#report = report;
  }

  failed(call: string, error: unknown): void {
    const now = Date.now();
    if (now - this.#last >= REPORT_INTERVAL) {
      this.#last = now;
      this.#report(`${call}() failed (${errnoText(error)}) while logging to syslog, server: ${this.#server}`);
    }
  }
}

class UdpPeer implements SyslogPeer {
  readonly #spec: SyslogSpec;
  readonly #address: string;
  readonly #reporter: Reporter;
  #socket: UdpSocket | undefined;
  #connected = false;
  #closed = false;
  #waiting: Buffer[] = [];
  #failedAt = 0;

  constructor(spec: SyslogSpec, address: string, report: (message: string) => void) {
    this.#spec = spec;
    this.#address = address;
    this.#reporter = new Reporter(spec.server, report);
  }

  send(severity: number, text: string): void {
    const message = Buffer.from(syslogHeader(this.#spec, severity) + text, 'latin1');
    if (this.#connected && this.#socket !== undefined) {
      if (this.#socket.getSendQueueSize() < BYTE_LIMIT) {
        this.#socket.send(message, this.#sent);
      } else {
        countLost(1);
        this.#reporter.failed('send', constants.errno.EAGAIN);
      }
    } else if (!this.#closed && this.#waiting.length < QUEUE_LIMIT && Date.now() - this.#failedAt >= RETRY) {
      this.#waiting.push(message);
      this.#socket ??= this.#open();
    } else {
      countLost(1);
    }
  }

  close(): void {
    this.#closed = true;
    if (this.#connected) {
      this.#drop();
    }
  }

  #open(): UdpSocket {
    const socket = createSocket(isIPv6(this.#address) ? 'udp6' : 'udp4');
    socket.unref();
    socket.on('error', (error) => {
      this.#reporter.failed(this.#connected ? 'send' : 'connect', error);
      if (!this.#connected) {
        this.#failedAt = Date.now();
        this.#drop();
      }
    });
    socket.connect(this.#spec.port, this.#address, () => {
      this.#connected = true;
      for (const message of this.#waiting) {
        socket.send(message, this.#sent);
      }
      this.#waiting = [];
      if (this.#closed) {
        this.#drop();
      }
    });
    return socket;
  }

  #drop(): void {
    this.#socket?.close();
    this.#socket = undefined;
    this.#connected = false;
    countLost(this.#waiting.length);
    this.#waiting = [];
  }

  readonly #sent = (error: Error | null): void => {
    if (error !== null) {
      countLost(1);
      this.#reporter.failed('send', error);
    }
  };
}

/**
 * A server reached by TCP, or at a UNIX-domain socket; each message is a line. Of that family Node has stream sockets only: a datagram
 * socket, which /dev/log mostly is, is reached through the system's logger(1), which runs as long as the peer lives.
 */
class StreamPeer implements SyslogPeer {
  readonly #spec: SyslogSpec;
  readonly #to: NetConnectOpts & { readonly path?: string };
  readonly #reporter: Reporter;
  #socket: Socket | undefined;
  #logger: ChildProcess | undefined;
  /** Where messages go, once that is known. */
  #out: Writable | undefined;
  #waiting: [severity: number, text: string][] = [];
  #closed = false;
  #failedAt = 0;

  constructor(spec: SyslogSpec, to: NetConnectOpts & { readonly path?: string }, report: (message: string) => void) {
    this.#spec = spec;
    this.#to = to;
    this.#reporter = new Reporter(spec.server, report);
  }

  send(severity: number, text: string): void {
    if (this.#out !== undefined) {
      this.#write(this.#out, severity, text);
    } else if (!this.#closed && this.#waiting.length < QUEUE_LIMIT && Date.now() - this.#failedAt >= RETRY) {
      this.#waiting.push([severity, text]);
      if (this.#socket === undefined) {
        this.#connect();
      }
    } else {
      countLost(1);
    }
  }

  close(): void {
    this.#closed = true;
    this.#out?.end();
  }

  #connect(): void {
    const socket = connect(this.#to);
    this.#socket = socket;
    socket.unref();
    socket.on('connect', () => this.#opened(socket));
    socket.on('error', (error) => {
      if (errnoCode(error) === 'EPROTOTYPE') {
        this.#spawnLogger();
      } else {
        this.#failed(this.#out === undefined ? 'connect' : 'send', error);
      }
    });
    socket.on('close', () => {
      if (this.#out === socket) {
        this.#reset();
      }
    });
  }

  #spawnLogger(): void {
    const { tag, nohostname } = this.#spec;
    const form = nohostname ? [] : ['--rfc3164'];
    const logger = spawn('logger', ['--socket', this.#to.path ?? '', '--prio-prefix', '--size', '65536', '--tag', tag, ...form], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    logger.unref();
    (logger.stderr as Socket).unref();
    // It goes on without its socket and complains of each message; what its words say is the state after it has closed that.
    logger.stderr.once('data', () => {
      if (this.#logger === logger) {
        this.#failed('send', constants.errno.ECONNREFUSED);
      }
    });
    logger.on('error', (error) => this.#failed('connect', error));
    logger.on('exit', (code) => {
      if (this.#logger === logger) {
        this.#failed('connect', new Error(code === 0 ? 'logger(1) ended' : 'logger(1) cannot reach the socket'));
      }
    });
    logger.stdin.on('error', (error) => this.#failed('send', error));
    this.#logger = logger;
    (logger.stdin as Socket).unref?.();
    this.#opened(logger.stdin);
  }

  #opened(out: Writable): void {
    this.#out = out;
    for (const [severity, text] of this.#waiting) {
      this.#write(out, severity, text);
    }
    this.#waiting = [];
    if (this.#closed) {
      out.end();
    }
  }

  #write(out: Writable, severity: number, text: string): void {
    if (out.writableLength < BYTE_LIMIT) {
      // logger(1) adds time, host and tag itself.
      const header = this.#logger === undefined ? syslogHeader(this.#spec, severity) : `<${this.#spec.facility * 8 + severity}>`;
      out.write(`${header}${text.replaceAll('\n', ' ')}\n`, 'latin1');
    } else {
      countLost(1);
      this.#reporter.failed('send', constants.errno.EAGAIN);
    }
  }

  #failed(call: string, error: unknown): void {
    if (!this.#closed) {
      this.#reporter.failed(call, error);
    }
    this.#failedAt = Date.now();
    this.#reset();
  }

  #reset(): void {
    this.#socket?.destroy();
    this.#out?.destroy();
    this.#socket = undefined;
    this.#logger = undefined;
    this.#out = undefined;
    countLost(this.#waiting.length);
    this.#waiting = [];
  }
}

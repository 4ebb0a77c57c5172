import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import type { Logger } from '../../shared/log/error-log.js';
import { ERROR } from '../../shared/log/level.js';
import { setTimer } from '../../shared/time/timer.js';
import { nowSeconds } from '../../shared/time/unix-time.js';
import { lowerAscii } from '../text/ascii-case.js';
import { type DnsAnswer, type DnsRecords, encodeQuery, parseAnswer, readName, readRecords, TYPE } from './message.js';
import { NameServer } from './name-server.js';
import { Names } from './names.js';
import { NameNode, type NameWaiter } from './node.js';
import {
  askedName,
  RESOLVE,
  type Resolved,
  type ResolvedName,
  type ResolvedServices,
  type Resolver,
  resolveErrorText,
} from './resolver.js';
import type { ResolverSpec } from './resolver-spec.js';
import { ServiceLookup } from './service-lookup.js';

/** Milliseconds after which a query is sent again, to the next server. nginx: r->resend_timeout. */
const RESEND = 5000;
/** How far names may point at other names. nginx: NGX_RESOLVER_MAX_RECURSION. */
const MAX_RECURSION = 50;
/** Seconds after which a name that could not be resolved may be tried again. */
const RETRY = 10;

/** Looks names up at the servers of one `resolver` line, and remembers the answers. nginx: ngx_resolver.c. */
export class DnsResolver implements Resolver {
  readonly #spec: ResolverSpec;
  readonly #log: Logger;
  readonly #servers: readonly NameServer[];
  readonly #names = new Names();
  readonly #services = new Names();
  #lastServer = 0;

  constructor(spec: ResolverSpec, log: Logger) {
    this.#spec = spec;
    this.#log = log;
    this.#servers = spec.servers.flatMap(({ addresses, port }) => {
      const list = 'addresses' in addresses ? addresses.addresses : addresses;
      return list.map((address) => new NameServer(address, port, log, (bytes, tcp) => this.#received(bytes, tcp)));
    });
  }

  resolve(name: string, timeoutMs: number, done: (result: Resolved) => void): () => void {
    const plain = askedName(name);
    if (isIP(plain) === 4) {
      done({ state: RESOLVE.OK, addresses: [plain], validUntil: Number.POSITIVE_INFINITY });
      return () => {};
    }
    return this.#ask(this.#names, plain, timeoutMs, (result) => done(result));
  }

  resolveService(service: string, host: string, timeoutMs: number, done: (result: ResolvedServices) => void): () => void {
    const plain = askedName(host);
    const name = lowerAscii(service.includes('.') ? `${service}.${plain}` : `_${service}._tcp.${plain}`);
    const lookup = new ServiceLookup(this, timeoutMs, done);
    lookup.cancelRecords = this.#ask(this.#services, name, timeoutMs, (result) => lookup.records(result));
    return () => lookup.cancel();
  }

  #ask(nodes: Names, name: string, timeoutMs: number, done: (result: ResolvedName) => void): () => void {
    const waiter: NameWaiter = { done, node: undefined, recursion: 0, timer: undefined };
    this.#find(nodes, name, [waiter], timeoutMs);
    return () => this.#drop(waiter);
  }

  #drop(waiter: NameWaiter): void {
    clearTimeout(waiter.timer);
    waiter.timer = undefined;
    const { node } = waiter;
    if (node === undefined) {
      return;
    }
    waiter.node = undefined;
    node.waiting.delete(waiter);
  }

  /** Answers from memory, waits for a question under way, or asks. nginx: ngx_resolve_name_locked. */
  #find(nodes: Names, name: string, waiters: readonly NameWaiter[], timeoutMs: number | undefined): void {
    let node = nodes.get(name);
    if (node !== undefined && node.validUntil >= nowSeconds()) {
      nodes.use(node, nowSeconds());
      this.#answerFrom(nodes, node, waiters, timeoutMs);
      return;
    }
    if (node === undefined || node.waiting.size === 0) {
      if (node !== undefined) {
        nodes.forget(node);
      }
      node = this.#begin(nodes, name);
      if (node === undefined) {
        for (const waiter of waiters) {
          this.#tell(waiter, failure(RESOLVE.NXDOMAIN));
        }
        return;
      }
    }
    for (const waiter of waiters) {
      waiter.node = node;
      node.waiting.add(waiter);
      if (timeoutMs !== undefined && waiter.timer === undefined) {
        waiter.timer = setTimer(() => this.#timedOut(waiter), timeoutMs).unref();
      }
    }
  }

  #answerFrom(nodes: Names, node: NameNode, waiters: readonly NameWaiter[], timeoutMs: number | undefined): void {
    if (node.cname === undefined) {
      for (const waiter of waiters) {
        this.#tell(waiter, node.result(true));
      }
      return;
    }
    const [first] = waiters;
    if (first!.recursion++ < MAX_RECURSION) {
      this.#find(nodes, node.cname, waiters, timeoutMs);
    } else {
      for (const waiter of waiters) {
        this.#tell(waiter, failure(RESOLVE.NXDOMAIN));
      }
    }
  }

  #tell(waiter: NameWaiter, result: ResolvedName): void {
    this.#drop(waiter);
    waiter.done(result);
  }

  #timedOut(waiter: NameWaiter): void {
    waiter.timer = undefined;
    this.#tell(waiter, failure(RESOLVE.TIMED_OUT));
  }

  /** Makes a node and sends its questions. Returns undefined for a name that cannot be. */
  #begin(nodes: Names, name: string): NameNode | undefined {
    const service = nodes === this.#services;
    const { ipv4, ipv6 } = this.#spec;
    const node = new NameNode(name, service || !ipv4 ? [] : undefined, service || !ipv6 ? [] : undefined);
    if (service) {
      node.query = encodeQuery(randomInt(65536), name, TYPE.SRV);
    } else {
      if (ipv4) {
        node.query = encodeQuery(randomInt(65536), name, TYPE.A);
      }
      if (ipv6) {
        node.query6 = encodeQuery(randomInt(65536), name, TYPE.AAAA);
      }
    }
    if (node.query === undefined && node.query6 === undefined) {
      return undefined;
    }
    node.server = this.#lastServer;
    this.#lastServer = (this.#lastServer + 1) % this.#servers.length;
    nodes.ask(node);
    this.#send(node, service);
    node.resend = setTimer(() => this.#resend(nodes, node), RESEND).unref();
    return node;
  }

  #send(node: NameNode, service: boolean): void {
    const server = this.#servers[node.server]!;
    if (node.query !== undefined && (service || node.addresses === undefined)) {
      if (node.tcp) {
        server.sendTcp(node.query);
      } else {
        server.send(node.query);
      }
    }
    if (node.query6 !== undefined && node.addresses6 === undefined) {
      if (node.tcp6) {
        server.sendTcp(node.query6);
      } else {
        server.send(node.query6);
      }
    }
  }

  // nginx: ngx_resolver_resend.
  #resend(nodes: Names, node: NameNode): void {
    if (node.waiting.size === 0) {
      nodes.forget(node);
      return;
    }
    node.server = (node.server + 1) % this.#servers.length;
    this.#send(node, nodes === this.#services);
    node.resend = setTimer(() => this.#resend(nodes, node), RESEND).unref();
  }

  // nginx: ngx_resolver_process_response.
  #received(bytes: Buffer, tcp: boolean): void {
    const answer = parseAnswer(bytes, tcp);
    if (typeof answer === 'string') {
      this.#log.log(ERROR, answer);
      return;
    }
    if (answer.name === '') {
      const node = answer.code === RESOLVE.FORMERR ? this.#names.askedAs(answer.id) : undefined;
      const name = node === undefined ? '' : `, name:"${node.name}"`;
      this.#log.log(ERROR, `DNS error (${answer.code}: ${resolveErrorText(answer.code)}), query id:${answer.id}${name}`);
      return;
    }
    if (answer.type === TYPE.A || answer.type === TYPE.AAAA) {
      this.#address(answer);
    } else {
      this.#service(answer);
    }
  }

  /** The node that an answer is for; undefined, with a log line, when nobody asked for it. */
  #nodeOf(nodes: Names, answer: DnsAnswer): NameNode | undefined {
    const node = nodes.get(answer.name);
    const six = answer.type === TYPE.AAAA;
    const asked = node === undefined ? undefined : six ? node.query6 : node.query;
    const pending = node !== undefined && (answer.type === TYPE.SRV || (six ? node.addresses6 : node.addresses) === undefined);
    if (node === undefined || asked === undefined || !pending) {
      this.#log.log(ERROR, `unexpected DNS response for ${answer.name}`);
      return undefined;
    }
    const id = asked.readUInt16BE(0);
    if (answer.id !== id) {
      this.#log.log(ERROR, `wrong ident ${answer.id} in DNS response for ${answer.name}, expect ${id}`);
      return undefined;
    }
    if (answer.truncated) {
      this.#askTcp(nodes, node, six);
    }
    return answer.truncated ? undefined : node;
  }

  #askTcp(nodes: Names, node: NameNode, six: boolean): void {
    if (six ? node.tcp6 : node.tcp) {
      return;
    }
    if (node.waiting.size === 0) {
      nodes.forget(node);
      return;
    }
    if (six) {
      node.tcp6 = true;
    } else {
      node.tcp = true;
    }
    this.#servers[node.server]!.sendTcp((six ? node.query6 : node.query)!);
  }

  // nginx: ngx_resolver_process_a.
  #address(answer: DnsAnswer): void {
    const node = this.#nodeOf(this.#names, answer);
    if (node === undefined) {
      return;
    }
    const six = answer.type === TYPE.AAAA;
    let code = answer.code === 0 ? node.code : answer.code;
    if (code === 0 && answer.count === 0) {
      node.take(six, []);
      if (!node.known) {
        return;
      }
      if (node.found) {
        this.#export(this.#names, node);
        return;
      }
      code = RESOLVE.NXDOMAIN;
    }
    if (code !== 0) {
      node.take(six, []);
      if (node.known) {
        this.#fail(this.#names, node, code);
      } else {
        node.code = code;
      }
      return;
    }
    const records = this.#records(node, answer);
    if (records === undefined) {
      return;
    }
    node.take(
      six,
      records.found.map(({ text }) => text),
    );
    if (records.found.length > 0 && !node.known) {
      return;
    }
    if (node.known && node.found) {
      this.#export(this.#names, node);
    } else if (records.alias !== 0) {
      if (node.known) {
        this.#follow(this.#names, node, answer.bytes, records.alias);
      }
    } else {
      this.#log.log(ERROR, 'no A or CNAME types in DNS response');
    }
  }

  // nginx: ngx_resolver_process_srv.
  #service(answer: DnsAnswer): void {
    const node = this.#nodeOf(this.#services, answer);
    if (node === undefined) {
      return;
    }
    const code = answer.code === 0 && answer.count === 0 ? RESOLVE.NXDOMAIN : answer.code;
    if (code !== 0) {
      this.#fail(this.#services, node, code);
      return;
    }
    const records = this.#records(node, answer);
    if (records === undefined) {
      return;
    }
    if (records.found.length > 0) {
      node.services = records.found.toSorted((a, b) => a.priority - b.priority);
      this.#export(this.#services, node);
    } else if (records.alias !== 0) {
      this.#follow(this.#services, node, answer.bytes, records.alias);
    } else {
      this.#log.log(ERROR, 'no SRV type in DNS response');
    }
  }

  /** The records of an answer that a name waits for; undefined, with a log line, when they cannot be read. */
  #records(node: NameNode, answer: DnsAnswer): DnsRecords | undefined {
    const records = readRecords(answer, (type) => this.#log.log(ERROR, `unexpected RR type ${type} in DNS response`));
    if (typeof records === 'string') {
      this.#log.log(ERROR, records);
      return undefined;
    }
    node.ttl = Math.min(node.ttl, records.ttl);
    return records;
  }

  #settle(nodes: Names, node: NameNode): readonly NameWaiter[] {
    clearTimeout(node.resend);
    node.resend = undefined;
    node.query = undefined;
    node.query6 = undefined;
    const now = nowSeconds();
    node.validUntil = now + (this.#spec.valid || node.ttl);
    nodes.use(node, now);
    nodes.expire(now);
    return node.release();
  }

  #export(nodes: Names, node: NameNode): void {
    const waiters = this.#settle(nodes, node);
    for (const waiter of waiters) {
      this.#tell(waiter, node.result(false));
    }
  }

  /** Goes on with the name that an answer's last CNAME record points at. */
  #follow(nodes: Names, node: NameNode, bytes: Buffer, at: number): void {
    const alias = readName(bytes, at);
    if (typeof alias === 'string') {
      this.#log.log(ERROR, alias);
      return;
    }
    node.cname = alias.name;
    const waiters = this.#settle(nodes, node);
    if (waiters.length === 0) {
      return;
    }
    if (waiters[0]!.recursion++ < MAX_RECURSION) {
      this.#find(nodes, node.cname, waiters, undefined);
    } else {
      for (const waiter of waiters) {
        this.#tell(waiter, failure(RESOLVE.NXDOMAIN));
      }
    }
  }

  #fail(nodes: Names, node: NameNode, code: number): void {
    nodes.forget(node);
    for (const waiter of node.release()) {
      this.#tell(waiter, failure(code, (this.#spec.valid || RETRY) * 1000));
    }
  }

  /** Closes the sockets. */
  close(): void {
    for (const server of this.#servers) {
      server.close();
    }
    this.#names.close();
    this.#services.close();
  }
}

function failure(state: number, retryMs = RETRY * 1000): ResolvedName {
  return { state, addresses: [], services: [], validUntil: Date.now() + retryMs };
}

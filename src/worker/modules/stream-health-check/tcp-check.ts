import { errnoText } from '../../../shared/system/errno.js';
import type { ChannelOwner } from '../../upstream/connection/channel.js';
import type { UpstreamConnection } from '../../upstream/connection/connection.js';
import { connectPeer } from '../../upstream/connection/connector.js';
import { transferFailure } from '../../upstream/connection/wire-errors.js';
import { StreamCheck } from './stream-check.js';

const CONNECT = { localAddress: undefined, localPort: undefined, keepAlive: false };

/** Checks by connections: one is made, perhaps something is sent, and perhaps something has to come. */
export class TcpCheck extends StreamCheck implements ChannelOwner {
  readonly r = null;
  #connection: UpstreamConnection | null = null;

  protected begin(): void {
    this.input.clear();
    const c = connectPeer(this.target, this, CONNECT, undefined);
    this.#connection = c;
    c.deadline.set(performance.now(), this.plan.timeout);
  }

  connected(): void {}

  ready(c: UpstreamConnection): void {
    const { match } = this.plan;
    if (match?.send !== undefined) {
      c.writeText(match.send);
      // To close the connection drops what has not left.
      if (!match.expects) {
        c.awaitFlush();
      }
    } else if (match?.expects !== true) {
      this.end(undefined);
    }
  }

  /** All was sent, and nothing is expected. */
  drained(): void {
    if (!this.plan.match!.expects) {
      this.end(undefined);
    }
  }

  received(_c: UpstreamConnection, bytes: Buffer, end: number): void {
    if (this.plan.match?.expects !== true) {
      return;
    }
    this.judge(bytes, end);
  }

  ended(): void {
    this.end('reading from upstream: upstream prematurely closed connection');
  }

  failed(c: UpstreamConnection, error: Error): void {
    const message = c.connected ? transferFailure(error).message : `connect() failed (${errnoText(error)})`;
    this.end(`${this.#doing()}: ${message}`);
  }

  timedOut(): void {
    this.end(`${this.#doing()}: upstream timed out (110: Connection timed out)`);
  }

  #doing(): string {
    return this.#connection?.connected === true ? 'reading from upstream' : 'connecting to upstream';
  }

  protected end(failure: string | undefined): void {
    if (this.#connection !== null) {
      this.drop();
      this.finish(failure);
    }
  }

  protected drop(): void {
    const c = this.#connection;
    this.#connection = null;
    c?.close();
  }
}

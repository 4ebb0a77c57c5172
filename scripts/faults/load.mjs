// Clients over raw sockets, in a process of their own, that count what they send and what comes back. A request whose bytes were
// sent and that did not get a complete, expected answer has failed, whatever the reason; nothing is sent twice.
//
// The parent sends { clients: [{ kind, count, port, tls, request, status, body, pause }] } and later 'stop'; the answer
// is a summary: answered, failed, why (the first reasons, counted), gap (the longest time without any answer, ms).
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

let stopping = false;
const totals = { answered: 0, failed: 0, why: {}, gap: 0, slowest: 0, kinds: {} };
let lastAnswer = 0;
const running = [];

process.on('message', (/** @type {any} */ message) => {
  if (message === 'stop') {
    void finish();
  } else if (message === 'report') {
    process.send?.(totals);
  } else {
    for (const spec of message.clients) {
      for (let i = 0; i < (spec.count ?? 1); i++) {
        running.push(client(spec));
      }
    }
  }
});
process.on('disconnect', () => process.exit());

async function finish() {
  stopping = true;
  await Promise.race([Promise.all(running), sleep(15_000)]);
  process.send?.(totals, () => process.exit());
}

function answered(name, since) {
  const now = performance.now();
  if (lastAnswer > 0) {
    totals.gap = Math.max(totals.gap, now - lastAnswer);
  }
  lastAnswer = now;
  totals.slowest = Math.max(totals.slowest, now - since);
  totals.answered++;
  totals.kinds[name] = (totals.kinds[name] ?? 0) + 1;
}

/** What an error is called: its code where it has one. */
function reasonOf(/** @type {any} */ error) {
  return error.code ?? error.message;
}

function failed(spec, why) {
  totals.failed++;
  const text = `${spec.name}: ${why}`;
  totals.why[text] = (totals.why[text] ?? 0) + 1;
}

async function client(spec) {
  const run = { websocket, close: repeated, 'keep-alive': repeated, download: repeated, upload: repeated }[spec.kind];
  await run(spec);
}

/** One request after the other: on one connection as long as the server keeps it, or each on its own. */
async function repeated(spec) {
  const request = Buffer.from(spec.request + (spec.kind === 'upload' ? 'u'.repeat(spec.upload) : ''), 'latin1');
  const statuses = [spec.status ?? 200].flat();
  let wire;
  while (!stopping) {
    try {
      wire ??= await Wire.open(spec);
    } catch (error) {
      failed(spec, `connect: ${reasonOf(error)}`);
      await sleep(20);
      continue;
    }
    const since = performance.now();
    try {
      const response = await wire.exchange(request, spec.patience ?? 10_000);
      if (!statuses.includes(response.status)) {
        failed(spec, `status ${response.status}`);
      } else if (spec.body !== undefined && response.status === statuses[0] && response.body !== spec.body) {
        failed(spec, `body ${response.body.slice(0, 40)}`);
      } else if (spec.length !== undefined && response.length !== spec.length) {
        failed(spec, `length ${response.length}`);
      } else {
        answered(spec.name, since);
      }
      if (!response.keep) {
        wire = wire.end();
      }
    } catch (error) {
      failed(spec, reasonOf(error));
      wire = wire.end();
    }
    if (spec.pause) {
      await sleep(spec.pause);
    }
  }
  wire?.end();
}

/** A tunnel that stays open and echoes; it has failed when it ends before the load does. */
async function websocket(spec) {
  while (!stopping) {
    let wire;
    try {
      wire = await Wire.open(spec);
      const since = performance.now();
      const { status } = await wire.exchange(Buffer.from(spec.request, 'latin1'), 10_000);
      if (status !== 101) {
        throw new Error(`status ${status}`);
      }
      answered(spec.name, since);
      while (!stopping) {
        const sent = performance.now();
        await wire.echo('ping over the tunnel', 10_000);
        answered(spec.name, sent);
        await sleep(spec.pause ?? 100);
      }
    } catch (error) {
      if (!stopping && !spec.mayEnd) {
        failed(spec, reasonOf(error));
      }
      await sleep(20);
    }
    wire?.end();
  }
}

/** One connection, with one exchange on it at any time. */
class Wire {
  #socket;
  #waiting;
  #input = [];
  #size = 0;
  #error;

  static open({ port, tls }) {
    return new Promise((resolve, reject) => {
      const options = { port, host: '127.0.0.1', rejectUnauthorized: false };
      const socket = tls ? connectTls(options) : connect(options);
      socket.once('error', reject);
      socket.once(tls ? 'secureConnect' : 'connect', () => {
        socket.off('error', reject);
        resolve(new Wire(socket));
      });
    });
  }

  constructor(socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#input.push(chunk);
      this.#size += chunk.length;
      this.#waiting?.();
    });
    const ended = (error) => {
      this.#error ??= error instanceof Error ? error : new Error('closed');
      this.#waiting?.();
    };
    socket.on('error', ended);
    socket.on('end', ended);
    socket.on('close', ended);
  }

  end() {
    this.#socket.destroy();
  }

  async #more(deadline) {
    const size = this.#size;
    if (this.#error) {
      throw this.#error;
    }
    let timer;
    await new Promise((resolve, reject) => {
      this.#waiting = resolve;
      timer = setTimeout(() => reject(new Error('no answer in time')), deadline - performance.now());
    }).finally(() => {
      clearTimeout(timer);
      this.#waiting = undefined;
    });
    if (this.#size === size && this.#error) {
      throw this.#error;
    }
  }

  async exchange(request, patience) {
    const deadline = performance.now() + patience;
    this.#socket.write(request);
    let head;
    let headEnd;
    for (;;) {
      if (this.#size > 0) {
        head = Buffer.concat(this.#input);
        this.#input = [head];
        headEnd = head.indexOf('\r\n\r\n');
        if (headEnd >= 0) {
          break;
        }
      }
      await this.#more(deadline);
    }
    const text = head.latin1Slice(0, headEnd);
    const status = Number(text.slice(9, 12));
    const keep = !/\r\nConnection: close/i.test(text);
    if (status === 101) {
      this.#take(headEnd + 4);
      return { status, keep };
    }
    const length = /\r\nContent-Length: (\d+)/i.exec(text);
    const total = length && headEnd + 4 + Number(length?.[1]);
    if (total === null) {
      const chunked = /\r\nTransfer-Encoding: chunked/i.test(text);
      while (!(chunked ? this.#tail(5) === '0\r\n\r\n' : this.#error)) {
        await this.#more(deadline).catch((error) => {
          if (chunked || error.message !== 'closed') {
            throw error;
          }
        });
      }
      const rest = this.#take(this.#size).subarray(headEnd + 4);
      const body = rest.length > 1_000_000 ? undefined : rest.latin1Slice();
      return {
        status,
        keep,
        length: rest.length,
        body: chunked ? body?.replace(/([0-9a-f]+)\r\n([\s\S]*?)\r\n(?=[0-9a-f]+\r\n)|0\r\n\r\n$/g, '$2') : body,
      };
    }
    while (this.#size < total) {
      // What a download brings is counted, not kept.
      if (total > 1_000_000 && this.#input.length > 1) {
        this.#input.length = 1;
      }
      await this.#more(deadline);
    }
    const body =
      total <= 1_000_000
        ? this.#take(total)
            .subarray(headEnd + 4)
            .latin1Slice()
        : undefined;
    if (body === undefined) {
      this.#input = [];
      this.#size = 0;
    }
    return { status, keep, length: Number(length?.[1]), body };
  }

  async echo(text, patience) {
    const deadline = performance.now() + patience;
    this.#socket.write(text);
    while (this.#size < text.length) {
      await this.#more(deadline);
    }
    const back = this.#take(text.length).latin1Slice();
    if (back !== text) {
      throw new Error(`echo of ${back}`);
    }
  }

  #tail(n) {
    const whole = Buffer.concat(this.#input.slice(-2));
    return whole.latin1Slice(Math.max(whole.length - n, 0));
  }

  #take(n) {
    const whole = this.#input.length === 1 ? this.#input[0] : Buffer.concat(this.#input);
    this.#input = whole.length > n ? [whole.subarray(n)] : [];
    this.#size = whole.length - n;
    return whole.subarray(0, n);
  }
}

import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ipAddress } from '../../../../src/shared/net/socket-addresses.js';
import { whyNoQuic } from '../../../../src/worker/net/openssl/quic-library.js';
import type { ServerConnection } from '../../../../src/worker/net/quic/connection.js';
import { Frame, QuicFrameReader } from '../../../../src/worker/net/quic/frame-reader.js';
import type { Path } from '../../../../src/worker/net/quic/path.js';
import { APPLICATION, Space } from '../../../../src/worker/net/quic/space.js';
import { AddressTokens } from '../../../../src/worker/net/quic/tokens.js';
import { HqEndpoint } from '../../../support/hq-endpoint.js';
import { frame, QuicClient } from '../../../support/quic-client.js';
import { waitFor } from '../../../support/wait.js';

const skip = whyNoQuic() !== '' && `no QUIC: ${whyNoQuic()}`;

t.test('what may not be in early data (RFC 9000, 12.5)', async (t) => {
  const reader = new QuicFrameReader();
  const read = (bytes: Buffer): unknown => {
    // Of neither anything is asked before the frame is refused.
    const [connection, path] = [{ ending: false } as ServerConnection, {} as Path];
    return reader.read(connection, bytes, 0, bytes.length, new Space(APPLICATION), true, path, '', 0);
  };
  const { ACK, ACK_ECN, CRYPTO, NEW_TOKEN, PATH_RESPONSE, RETIRE_CONNECTION_ID, HANDSHAKE_DONE } = Frame;
  for (const type of [ACK, ACK_ECN, CRYPTO, NEW_TOKEN, PATH_RESPONSE, RETIRE_CONNECTION_ID, HANDSHAKE_DONE]) {
    t.throws(() => read(Buffer.concat([frame(type), Buffer.alloc(40)])), { code: 0x0a, frame: type });
  }
  t.equal(read(frame(Frame.PADDING, Frame.PING)), 3);
});

async function connected(t: Test): Promise<{ readonly server: HqEndpoint; readonly client: QuicClient }> {
  const server = new HqEndpoint();
  const client = await QuicClient.connect(server.port);
  t.teardown(() => {
    client.close();
    server.close();
  });
  return { server, client };
}

/** A datagram by which a client that has lost its connection says so. */
function reset(token: Buffer, length: number): Buffer {
  const bytes = randomBytes(length);
  bytes[0] = 0x40 | (bytes[0]! & 0x3f);
  token.copy(bytes, length - token.length);
  return bytes;
}

t.test('a client that has lost its connection (RFC 9000, 10.3.1)', { skip }, async (t) => {
  for (const length of [21, 32, 33, 43, 1200]) {
    const { server, client } = await connected(t);
    const [token, later] = [randomBytes(16), randomBytes(16)];
    client.send(APPLICATION, frame(0x18, 1, 1, Buffer.from([8]), randomBytes(8), token));
    await client.until(() => client.retired.includes(0));
    client.send(APPLICATION, frame(0x18, 2, 1, Buffer.from([8]), randomBytes(8), later));
    for (const other of [later, randomBytes(16)]) {
      client.sendRaw(reset(other, length));
    }
    client.sendRaw(reset(token, length).subarray(0, length - 1));
    client.get(0, '/3');
    await client.until(() => client.streams.get(0)?.end === true);
    t.strictSame(server.seen.ends, [], 'by no other token than that of the identifier in use');
    client.sendRaw(reset(token, length));
    await waitFor(() => server.seen.ends.length > 0);
    t.match(server.seen.ends, [{ by: 'reset' }], `${length} bytes`);
  }
  const { server, client } = await connected(t);
  const token = randomBytes(16);
  client.send(APPLICATION, frame(0x18, 1, 1, Buffer.from([8]), randomBytes(8), token));
  await client.until(() => client.retired.includes(0));
  client.sendRaw(Buffer.concat([Buffer.from([0x43]), client.peer, randomBytes(30), token]));
  await waitFor(() => server.seen.ends.length > 0);
  t.match(server.seen.ends, [{ by: 'reset' }], 'to an identifier that is known');
});

t.test('who passes on packets of a client from elsewhere does not take its connection away (RFC 9000, 9.3.3)', { skip }, async (t) => {
  const { server, client } = await connected(t);
  const other = createSocket('udp4');
  t.teardown(() => other.close());
  other.bind(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = client.socket.address();
  const connection = server.connections[0]!;
  client.sendRaw(client.packet(APPLICATION, frame(1)), other);
  await client.until(() => client.challenges.length > 0);
  t.pass('the address before is asked');
  await waitFor(() => connection.remotePort === port);
  client.get(0, '/300000');
  await client.until(() => client.streams.get(0)?.end === true);
  t.equal(client.streams.get(0)!.text.length, 300_000);
  t.strictSame(server.seen.ends, []);
});

t.test('each path has an identifier of its own (RFC 9000, 9.5)', { skip }, async (t) => {
  /** A socket of a client's elsewhere, and the identifiers that it is sent to. */
  const elsewhere = async (): Promise<{ readonly socket: Socket; readonly ids: string[] }> => {
    const socket = createSocket('udp4');
    t.teardown(() => socket.close());
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const ids: string[] = [];
    socket.on('message', (bytes) => ids.push(bytes.toString('hex', 1, 9)));
    return { socket, ids };
  };
  const challenge = (client: QuicClient, own: Buffer, socket: Socket): void => {
    client.peer = own;
    client.sendRaw(client.packet(APPLICATION, Buffer.concat([frame(0x1a, Buffer.alloc(8, 1)), Buffer.alloc(1100)])), socket);
  };
  const newId = (sequence: number, id: Buffer, retire = 0): Buffer => frame(0x18, sequence, retire, Buffer.from([8]), id, randomBytes(16));
  const ids = Array.from({ length: 6 }, () => randomBytes(8));
  const name = (index: number): string => ids[index]!.toString('hex');

  await t.test('of a path under trial, which a client gives up or takes', async (t) => {
    const { server, client } = await connected(t);
    await client.until(() => client.newIds.length > 0);
    const [first, own] = [client.peer, client.newIds[0]!.id];
    const [one, other] = [await elsewhere(), await elsewhere()];
    challenge(client, own, one.socket);
    client.peer = first;
    client.get(0, '/3');
    await client.until(() => client.streams.get(0)?.end === true);
    t.strictSame(one.ids, [], 'nothing without an identifier of its own');
    client.send(APPLICATION, newId(1, ids[1]!));
    await waitFor(() => one.ids.length > 0);
    t.strictSame(new Set(one.ids), new Set([name(1)]));
    // The first trial makes room for the second.
    challenge(client, own, other.socket);
    client.peer = first;
    await client.until(() => client.retired.includes(1));
    client.send(APPLICATION, newId(2, ids[2]!));
    await waitFor(() => other.ids.length > 0);
    t.strictSame(new Set(other.ids), new Set([name(2)]));
    t.strictSame(new Set(one.ids), new Set([name(1)]));
    client.get(4, '/3');
    await client.until(() => client.streams.get(4)?.end === true);
    t.equal((server.connections[0] as ServerConnection).peerIds.current.equals(client.source), true, 'the path in use keeps its own');
    t.strictSame(server.seen.ends, []);
  });

  await t.test('of a path that the client takes, and of the one before', async (t) => {
    const { server, client } = await connected(t);
    await client.until(() => client.newIds.length > 0);
    const { socket, ids: sent } = await elsewhere();
    client.send(APPLICATION, newId(1, ids[1]!));
    // What it said by itself would come from where it was.
    client.acknowledges = false;
    client.peer = client.newIds[0]!.id;
    client.sendRaw(client.packet(APPLICATION, frame(1)), socket);
    await waitFor(() => sent.length > 0);
    t.strictSame(new Set(sent), new Set([name(1)]));
    const connection = server.connections[0] as ServerConnection;
    t.equal(connection.peerIds.current.equals(ids[1]!), true);
    // The path before is asked, by the identifier that it had.
    await client.until(() => client.challenges.length > 0);
    client.sendRaw(client.packet(APPLICATION, newId(2, ids[2]!, 2)), socket);
    await waitFor(() => connection.peerIds.current.equals(ids[2]!));
    t.strictSame(server.seen.ends, []);
  });

  await t.test('a client that something on the way has moved keeps its own', async (t) => {
    const { server, client } = await connected(t);
    const { socket, ids: sent } = await elsewhere();
    client.acknowledges = false;
    client.sendRaw(client.packet(APPLICATION, frame(1)), socket);
    await waitFor(() => sent.length > 0);
    t.strictSame(new Set(sent), new Set([client.source.toString('hex')]));
    t.strictSame(server.seen.ends, []);
  });
});

t.test('a client gets tokens for addresses at which it is known to be (RFC 9000, 8.1.3 and 9.3)', { skip }, async (t) => {
  const server = new HqEndpoint();
  const client = await QuicClient.open(server.port);
  const socket = createSocket('udp4');
  t.teardown(() => {
    socket.close();
    client.close();
    server.close();
  });
  socket.bind(0, '127.0.0.2');
  await once(socket, 'listening');
  socket.on('message', (bytes, from) => client.socket.emit('message', bytes, from));
  const tokens = new AddressTokens(Buffer.alloc(32, 7));
  const isFor = (address: string): boolean | undefined => tokens.read(client.token!, ipAddress(address, 9)!.bytes)?.valid;
  // What the server says is lost, as far as it knows.
  client.acknowledges = client.answers = false;
  await client.until(() => client.token !== undefined && client.newIds.length > 0);
  t.equal(isFor('127.0.0.1'), true);
  client.send(APPLICATION, frame(0x18, 1, 0, Buffer.from([8]), randomBytes(8), randomBytes(16)));
  client.peer = client.newIds[0]!.id;
  for (let i = 0; i < 3; i++) {
    client.sendRaw(client.packet(APPLICATION, Buffer.concat([frame(1), Buffer.alloc(1100)])), socket);
  }
  await client.until(() => client.challenges.length > 0);
  // What left before for the address before has come, too.
  await setImmediate();
  client.token = undefined;
  client.frames.length = 0;
  await client.until(() => client.frames.some(({ type }) => type === Frame.PING));
  client.sendRaw(client.packet(APPLICATION, frame(Frame.ACK, client.levels[APPLICATION]!.largest, 0, 0, 0)), socket);
  await client.until(() => client.frames.some(({ type }) => type === Frame.HANDSHAKE_DONE));
  t.equal((server.connections[0] as ServerConnection).path.validated, false);
  t.equal(client.token, undefined, 'what came with the lost token is repeated');
  // Both addresses are asked.
  client.sendRaw(client.packet(APPLICATION, Buffer.concat(client.challenges.map((data) => frame(0x1b, data)))), socket);
  await client.until(() => client.token !== undefined);
  t.equal(isFor('127.0.0.2'), true);
  t.equal(isFor('127.0.0.1'), false);
  t.strictSame(server.seen.ends, []);
});

t.test('a challenge where the client is brings more than the answer', { skip }, async (t) => {
  const { client } = await connected(t);
  client.frames.length = 0;
  client.send(APPLICATION, frame(0x1a, Buffer.alloc(8, 1)));
  await client.until(() => client.frames.some(({ type }) => type === 0x02 || type === 0x03));
  await client.until(() => client.responses.length > 0);
  t.equal(client.responses[0]!.equals(Buffer.alloc(8, 1)), true);
  client.send(APPLICATION, frame(0x1b, Buffer.alloc(8, 5)));
  client.get(0, '/3');
  await client.until(() => client.streams.get(0)?.end === true);
  t.equal(client.closed, undefined, 'an answer that nobody asked for is left aside');
});

t.test('a client has as long to answer as it has to speak (RFC 9000, 10.1)', { skip }, async (t) => {
  const { server, client } = await connected(t);
  const connection = server.connections[0] as ServerConnection;
  client.get(0, '/3');
  await client.until(() => client.streams.get(0)?.end === true);
  await waitFor(() => connection.recovery.cubic.inFlight === 0);
  client.acknowledges = false;
  client.frames.length = 0;
  // Two are acknowledged at once, with which nothing is asked.
  client.send(APPLICATION, frame(1));
  client.send(APPLICATION, frame(1));
  await client.until(() => client.frames.some(({ type }) => type === 0x02 || type === 0x03));
  const before = connection.idleAt;
  const stream = connection.openUnidirectional({ drained() {}, finished() {}, received() {}, wasReset() {}, refused() {}, closed() {} })!;
  stream.write(Buffer.from('x'), false);
  await client.until(() => client.streams.get(stream.id)?.text === 'x');
  const after = connection.idleAt;
  t.ok(after > before, `${after - before} ms`);
  stream.write(Buffer.from('y'), false);
  await client.until(() => client.streams.get(stream.id)?.text === 'xy');
  t.equal(connection.idleAt, after, 'counted once, from the first packet');
});

// The ring keeps the process.
t.teardown(() => process.exit());

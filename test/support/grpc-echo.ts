import {
  Server as GrpcServer,
  Metadata,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Test } from 'tap';

/** Messages are bytes. */
export const as = (bytes: Buffer): Buffer => bytes;
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/test.Echo/${name}`,
  requestStream,
  responseStream,
  requestSerialize: as,
  requestDeserialize: as,
  responseSerialize: as,
  responseDeserialize: as,
});
const service: ServiceDefinition = {
  unary: method('Unary', false, false),
  up: method('Up', true, false),
  down: method('Down', false, true),
  chat: method('Chat', true, true),
};
/** The path of a method. */
export const path = (name: 'unary' | 'up' | 'down' | 'chat'): string => service[name]!.path;

/** What servers have seen. */
export interface Seen {
  cancelled: number;
  deadlines: (Date | number)[];
  calls: number;
}

const implementation = (seen: Seen): UntypedServiceImplementation => ({
  unary(call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) {
    seen.calls++;
    const words = call.metadata.get('x-want')[0];
    if (words === 'error') {
      const trailers = new Metadata();
      trailers.set('x-detail', 'why');
      callback({ code: status.FAILED_PRECONDITION, details: 'not now: ü', metadata: trailers });
    } else if (words === 'silence') {
      seen.deadlines.push(call.getDeadline());
      call.on('cancelled', () => seen.cancelled++);
    } else {
      const head = new Metadata();
      head.set('x-echo', String(call.metadata.get('x-text')[0]));
      head.set('x-echo-bin', call.metadata.get('x-some-bin')[0] ?? Buffer.from('-'));
      call.sendMetadata(head);
      const trailers = new Metadata();
      trailers.set('x-after', 'all');
      callback(null, call.request, trailers);
    }
  },
  up(call: ServerReadableStream<Buffer, Buffer>, callback: sendUnaryData<Buffer>) {
    let count = 0;
    let bytes = 0;
    call.on('data', (message: Buffer) => {
      count++;
      bytes += message.length;
    });
    call.on('end', () => callback(null, Buffer.from(`${count} ${bytes}`)));
  },
  async down(call: ServerWritableStream<Buffer, Buffer>) {
    const wanted = Number(call.request.toString());
    for (let i = 0; i < wanted && !call.cancelled; i++) {
      if (!call.write(Buffer.from(`message ${i}`))) {
        await new Promise((done) => void call.once('drain', done));
      }
    }
    call.end();
  },
  chat(call: ServerDuplexStream<Buffer, Buffer>) {
    call.on('data', (message: Buffer) => call.write(message));
    call.on('end', () => call.end());
    call.on('cancelled', () => seen.cancelled++);
  },
});

/** Nothing was seen yet. */
export const nothing = (): Seen => ({ cancelled: 0, deadlines: [], calls: 0 });

/** Starts gRPC's own server with the methods Unary, Up, Down and Chat of `test.Echo`; it stops with the test. */
export async function startGrpcServer(t: Test, seen: Seen, port = 0): Promise<{ port: number; server: GrpcServer }> {
  const server = new GrpcServer({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  server.addService(service, implementation(seen));
  const bound = await new Promise<number>((done, fail) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, got) => (error === null ? done(got) : fail(error)));
  });
  t.teardown(() => server.forceShutdown());
  return { port: bound, server };
}

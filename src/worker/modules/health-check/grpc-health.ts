/** Where the health of a server of gRPC is asked for: grpc.health.v1.Health/Check. */
export const HEALTH_PATH = '/grpc.health.v1.Health/Check';

/** `HealthCheckResponse.ServingStatus.SERVING`. */
const SERVING = 1;
const NAMES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
/** Field 1 as a number, and as a text. */
const STATUS_TAG = 0x08;
const SERVICE_TAG = 0x0a;

/** A `HealthCheckRequest` for a service, in a frame; an empty name asks for the server. The name has at most 127 bytes. */
export function healthRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([SERVICE_TAG, name.length]), name]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** What is wrong with a `HealthCheckResponse` in its frame, in words that follow "checking"; undefined: the service serves. */
export function healthFailure(body: Buffer): string | undefined {
  if (body.length < 5 || body[0] !== 0 || body.readUInt32BE(1) !== body.length - 5) {
    return 'the answer, which is no message of gRPC';
  }
  // A message without the field has its default, UNKNOWN.
  const status = body.length === 5 ? 0 : body[5] === STATUS_TAG && body.length === 7 ? body[6]! : -1;
  if (status === SERVING) {
    return undefined;
  }
  return `the status ${NAMES[status] ?? 'of the service'}`;
}

import type { Native } from '../../../shared/native/native.js';
import { Region } from '../../../shared/net/uring/memory.js';

const SOL_SOCKET = 1;
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** Codes of classic BPF: load a byte, jump if bits are set, jump, the rest of a division, return what was computed. */
const [LOAD_BYTE, JUMP_IF_SET, JUMP, REST, RETURN] = [0x30, 0x45, 0x05, 0x94, 0x16];
/** Where the first byte of the ID stands that a packet goes to, with a long and with a short header. */
const [LONG_AT, SHORT_AT] = [6, 1];
const LONG = 0x80;

/**
 * Has the kernel choose among the sockets of an address by the first byte of the connection ID that a datagram goes to: its rest by the
 * number of workers is the socket's number, in the order in which they were bound. Returns a negated error number where that cannot be:
 * then the kernel chooses by addresses, which is right for as long as clients stay where they are.
 */
export function routeById(native: Native, fd: number, workers: number): number {
  const program: readonly (readonly [code: number, yes: number, no: number, value: number])[] = [
    [LOAD_BYTE, 0, 0, 0],
    [JUMP_IF_SET, 0, 2, LONG],
    [LOAD_BYTE, 0, 0, LONG_AT],
    [JUMP, 0, 0, 1],
    [LOAD_BYTE, 0, 0, SHORT_AT],
    [REST, 0, 0, workers],
    [RETURN, 0, 0, 0],
  ];
  const region = Region.map(native, program.length * 8);
  for (const [i, [code, yes, no, value]] of program.entries()) {
    region.bytes.writeUInt16LE(code, i * 8);
    region.bytes[i * 8 + 2] = yes;
    region.bytes[i * 8 + 3] = no;
    region.bytes.writeUInt32LE(value, i * 8 + 4);
  }
  // struct sock_fprog: how many there are, and where.
  const described = Buffer.alloc(16);
  described.writeUInt16LE(program.length, 0);
  described.writeBigUInt64LE(BigInt(region.address(0, program.length * 8)), 8);
  return native.setOption(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, described);
}

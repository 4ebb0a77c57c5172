import { loadNative } from '../../../shared/native/native.js';

const [IPPROTO_TCP, TCP_INFO] = [6, 11];

/** The first 104 bytes of the kernel's `struct tcp_info`, in numbers of four bytes. */
const info = new Uint32Array(26);

/** Where the kernel keeps what among {@link info}. */
const FIELDS = { rtt: 17, rttvar: 18, snd_cwnd: 20, rcv_space: 24 } as const;

export type TcpInfoField = keyof typeof FIELDS;

/**
 * What the kernel knows of a connection: `rtt` and `rttvar` in microseconds, `snd_cwnd` in segments, `rcv_space` in bytes. Undefined where
 * it does not tell: for a connection that is not of TCP or is closed, and without the system's calls.
 */
export function tcpInfo(fd: number, field: TcpInfoField): number | undefined {
  const native = loadNative();
  if (fd < 0 || typeof native === 'string' || native.getOption(fd, IPPROTO_TCP, TCP_INFO, info) < 0) {
    return undefined;
  }
  return info[FIELDS[field]];
}

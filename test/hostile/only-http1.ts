import type { Http2Case } from './http2/cases.js';

/** Why a case of HTTP/1 means something else in frames, and what it means there. */
export interface OnlyHttp1 {
  readonly why: string;
  readonly when: (one: Http2Case) => boolean;
  /** What must come of it over a version; undefined for what is not compared. */
  readonly log: (one: Http2Case, version: 2 | 3) => readonly string[] | undefined;
}

const fieldOf = ({ parts }: Http2Case, wanted: string): string => parts[0]!.fields.find(([name]) => name === wanted)?.[1] ?? '';
const values = ({ parts }: Http2Case): string[] => parts[0]!.fields.map(([, value]) => value);
const refused = (): readonly string[] => ['1: 400'];
const asked = ({ log }: Http2Case): string[] => log.filter((line) => line.startsWith('> '));
const first = ({ log }: Http2Case): string => log[0]!;

/** A field's limit in the configuration of the cases. */
const FIELD = 2048;

export const onlyHttp1: readonly OnlyHttp1[] = [
  {
    why: 'the end of a line ends a field or a target, and is no byte of it',
    when: (one) => values(one).some((value) => /[\r\n]/.test(value)),
    log: refused,
  },
  { why: 'an absolute target is no path', when: (one) => /^[a-z][a-z+]*:\/\//i.test(fieldOf(one, ':path')), log: refused },
  {
    why: 'CONNECT has no path, and a target that is no path is malformed',
    when: (one) => fieldOf(one, ':method') === 'CONNECT',
    log: (one) => (fieldOf(one, ':path').startsWith('/') ? ['1: 405'] : ['1: 400']),
  },
  {
    why: 'what has no status cannot be passed on',
    when: (one) => /^1: (0 body|99$|unreadable: not a status line)/.test(first(one)),
    log: (one) => ['1: 502', ...asked(one)],
  },
  {
    why: 'a head waits for the first bytes of its body where both can be sent together, and a reset overtakes it',
    when: (one) => first(one) === '1: closed' || fieldOf(one, ':path') === '/method/?m=HEAD',
    log: (one, version) => [version === 2 ? '1: 200 body "" incomplete' : '1: incomplete', ...asked(one)],
  },
  {
    why: 'a name that no client of HTTP/1 reads',
    when: (one) => first(one).startsWith('1: unreadable: not a header line'),
    log: () => undefined,
  },
  {
    why: 'Upgrade is of HTTP/1',
    when: (one) => first(one).includes('"upgrade: '),
    log: ({ log }) => log.map((line) => line.replace(/ "upgrade: [^"]*"/, '')),
  },
  {
    why: 'the first head of a stream is shown',
    when: (one) => /^1: 1\d\d$/.test(first(one)),
    log: (one) => [first(one), ...asked(one)],
  },
  {
    why: 'lines of cookies are one for a backend',
    when: (one) => values(one).length > 5 && fieldOf(one, 'cookie') !== '',
    log: ({ log }) => log.map((line) => line.replaceAll('\\r\\ncookie: ', '; ').replace('; ', '\\r\\ncookie: ')),
  },
  {
    why: 'a field over the limit ends the connection of HTTP/2; of HTTP/3 the bytes count that Huffman codes leave',
    when: (one) => values(one).some((value) => value.length > FIELD) || /^a{3000}$/.test(one.parts[0]!.fields.at(-1)![0]),
    log: (_one, version) => (version === 2 ? ['1:', 'goaway 11'] : undefined),
  },
  {
    why: 'lines over the limit of all end the connection of HTTP/2',
    when: ({ title }) => title === 'nine thousand bytes in lines',
    log: (_one, version) => (version === 2 ? ['1:', 'goaway 11'] : ['1: 400']),
  },
];

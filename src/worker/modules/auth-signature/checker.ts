import { hash } from 'node:crypto';
import { ERROR, INFO } from '../../../shared/log/level.js';
import { AUTH } from '../../../shared/zone/meter-kinds.js';
import type { Meter } from '../../../shared/zone/meters.js';
import { asksProxy } from '../../http/headers/basic-credentials.js';
import { documentSlot } from '../../http/request/document-settings.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import { lineText } from '../../http/request/line-text.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { PhaseStep } from '../../http/request/run-phases.js';
import { writeBare } from '../../http/syntax/structured-fields.js';
import { lastingSlot } from '../../task/client-task.js';
import { AGAIN, DECLINED, OK, type Result } from '../../task/codes.js';
import { checkDigests, readDigests } from './content-digest.js';
import { type Examined, examine, NO_SIGNATURE, type Signed } from './examine.js';
import { BODY, type SignatureSettings } from './settings.js';
import type { Signature } from './signature.js';

/** What is known of the signature of a client's request. */
interface Known {
  readonly conf: Readonly<SignatureSettings>;
  readonly examined: Examined;
  /** What came of a look at its body and its nonce. */
  outcome: 'open' | 'passed' | 'refused';
  /** Counts what is decided; undefined before the access phase. */
  meter: Meter | undefined;
  /** The names of nonces that this request has used up: behind a redirect inside the server it is asked again. */
  readonly used: string[];
}

const slot = lastingSlot<Known>();

/** Looks at the signature of a request, once for all who ask. */
function knownOf(r: Request, conf: Readonly<SignatureSettings>): Known {
  let known = slot.get(r);
  if (known?.conf !== conf) {
    known = { conf, examined: examine(r, conf, Date.now() / 1000), outcome: 'open', meter: undefined, used: known?.used ?? [] };
    slot.set(r, known);
  }
  return known;
}

/** No access phase of the request is over, neither here nor before a redirect inside the server. */
const isEarly = ({ internal, phase }: Request): boolean => !internal && phase <= PhaseStep.ACCESS;

/**
 * The signature of a client's request. Before the access phase, one that is right as far as can be said without the body is enough;
 * afterwards it must have passed.
 */
export function signatureOf(r: Request, confAt: (location: LocationRuntime) => Readonly<SignatureSettings>): Signature | undefined {
  const { main } = r;
  const conf = confAt(main.location);
  let known = slot.get(main);
  if (known?.outcome !== 'passed' && known?.conf !== conf) {
    if (!isEarly(main) || conf.realm === undefined || conf.realm.eval(main) === 'off') {
      return undefined;
    }
    known = knownOf(main, conf);
  }
  const { examined, outcome } = known;
  const fit = outcome === 'passed' || (outcome === 'open' && isEarly(main));
  return fit && typeof examined === 'object' ? examined.signature : undefined;
}

/** The handler of the access phase. */
export function checkSignature(r: Request, conf: Readonly<SignatureSettings>, meter: Meter): Result {
  const realm = conf.realm!.eval(r);
  if (realm === 'off') {
    return DECLINED;
  }
  const known = knownOf(r, conf);
  known.meter = meter;
  const { examined } = known;
  if (typeof examined === 'number') {
    meter.count(AUTH.failed);
    r.trace?.add(
      r,
      'access',
      'auth_signature: its keys cannot be had',
      { in: r.location, directive: 'auth_signature' },
      { status: examined },
    );
    return examined;
  }
  if (typeof examined === 'string') {
    return refuse(r, conf, realm, examined);
  }
  if (known.outcome === 'passed') {
    return OK;
  }
  if (!examined.coversBody) {
    return checkNonce(r, known, examined, realm);
  }
  const digests = readDigests(examined.message.field(BODY));
  if (typeof digests === 'string') {
    return refuse(r, conf, realm, digests);
  }
  // What is there at once is checked before this returns.
  let returned = false;
  let result: Result = AGAIN;
  const end = (code: Result): void => {
    if (returned && code !== AGAIN) {
      r.resume(code);
    } else {
      result = code;
    }
  };
  readBody(r, () => {
    const { body } = r.main;
    if (body === null || body.lost) {
      end(refuse(r, conf, realm, 'its body is not there any more'));
      return;
    }
    checkDigests(r, body, digests, (right) =>
      end(right ? checkNonce(r, known, examined, realm) : refuse(r, conf, realm, 'the body is not the one that was signed')),
    );
  });
  returned = true;
  return result;
}

/** Notes the nonce, as the last thing: a request that was changed on its way must not use up the nonce of the right one. */
function checkNonce(r: Request, known: Known, { signature }: Signed, realm: string): Result {
  const { conf, used } = known;
  const { keyid, nonce, created, expires } = signature;
  if (conf.nonces === undefined || r.http.env.rehearsing === true) {
    return pass(r, known, signature);
  }
  const zone = r.http.env.zones.open(conf.nonces);
  const name = hash('sha256', JSON.stringify([keyid, nonce]), 'base64url').slice(0, NAME);
  if (used.includes(`${zone.name} ${name}`)) {
    return pass(r, known, signature);
  }
  const { maxAge, leeway } = conf;
  // Later on, the signature itself has expired.
  const until = Math.min(created! * 1000 + maxAge, expires === undefined ? Number.POSITIVE_INFINITY : expires * 1000) + leeway;
  zone.later(
    (changes) => (changes.get(name) !== undefined ? 'used' : changes.put(name, { value: '1', expires: until + SPARE }) ? 'new' : 'full'),
    (outcome) => {
      if (!r.finished) {
        r.resume(afterNonce(r, known, signature, realm, outcome, `${zone.name} ${name}`));
      }
    },
  );
  return AGAIN;
}

/** Characters of a nonce's name: 132 bits, which fit into the least room that a zone gives a pair. */
const NAME = 22;
function afterNonce(r: Request, known: Known, signature: Signature, realm: string, outcome: 'new' | 'used' | 'full', name: string): Result {
  switch (outcome) {
    case 'new':
      known.used.push(name);
      return pass(r, known, signature);
    case 'used':
      return refuse(r, known.conf, realm, 'its nonce came a second time');
    default:
      known.meter?.count(AUTH.failed);
      r.log(ERROR, `keyval zone "${known.conf.nonces!.name}" has no room for the nonce of a signature`);
      return 503;
  }
}

/** Milliseconds that a nonce is kept longer than needed: machines' clocks are read at different moments. */
const SPARE = 1000;

function pass(r: Request, known: Known, { keyid }: Signature): Result {
  known.outcome = 'passed';
  known.meter?.count(AUTH.passed);
  r.trace?.add(r, 'access', `auth_signature: signed by "${keyid}"`, { in: r.location, directive: 'auth_signature' }, { keyid });
  return OK;
}

function refuse(r: Request, conf: Readonly<SignatureSettings>, realm: string, reason: string): Result {
  const known = slot.get(r)!;
  known.outcome = 'refused';
  known.meter?.count(AUTH.refused);
  const text = reason === NO_SIGNATURE ? reason : `the signature is refused: ${reason}`;
  r.log(INFO, text);
  r.trace?.add(r, 'access', `auth_signature: ${text}`, { in: r.location, directive: 'auth_signature' });
  const challenge = realm === '' ? 'Signature' : `Signature realm="${lineText(realm)}"`;
  if (asksProxy(r)) {
    r.out.proxyAuthenticate = challenge;
    return 407;
  }
  r.out.adopt('wwwAuthenticate', 'WWW-Authenticate', challenge);
  if (r.location.conf(documentSlot).satisfy === 'all') {
    r.out.add('Accept-Signature', wanted(conf));
  }
  return 401;
}

/** What a signature should be like. RFC 9421, section 5.1; it has no way to say that a nonce is wanted. */
function wanted({ components, tag }: Readonly<SignatureSettings>): string {
  const names = components.map((name) => writeBare({ type: 'string', value: name })).join(' ');
  return `sig=(${names});created;keyid${tag === undefined ? '' : `;tag=${writeBare({ type: 'string', value: tag })}`}`;
}

import type { AcmeZone } from '../../acme/acme-zone.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import { discardBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { DECLINED, OK } from '../../task/codes.js';

const PATH = '/.well-known/acme-challenge/';

/**
 * Answers a CA's HTTP-01 challenge before anything that the server says about requests. Tokens of others, such as certbot, go on to
 * what the server has for them. nginx-acme: the handler of its solver http-01.
 */
export const answerChallenge =
  (zone: AcmeZone): PhaseHandler =>
  (r) => {
    if (!r.uri.startsWith(PATH) || r.methodBit !== METHOD.GET) {
      return DECLINED;
    }
    const answer = zone.httpAnswer(r.uri.slice(PATH.length));
    if (answer === undefined) {
      return DECLINED;
    }
    const broken = discardBody(r);
    if (broken !== OK) {
      return broken;
    }
    r.out.contentType = 'text/plain';
    r.keepalive = false;
    return respondBuffer(r, 200, Buffer.from(answer, 'latin1'));
  };

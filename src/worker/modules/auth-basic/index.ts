import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { resolvePath } from '../../../shared/config/paths.js';
import { complex } from '../../../shared/config/slots.js';
import { CRIT, ERROR, INFO } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { WorkerEnv } from '../../env.js';
import { asksProxy, basicCredentials } from '../../http/headers/basic-credentials.js';
import { endsWithoutClient } from '../../http/request/client-gone.js';
import { lineText } from '../../http/request/line-text.js';
import { climbsByVariables } from '../../http/request/map-path.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import type { TraceDirective } from '../../http/request/trace.js';
import { waiting } from '../../http/request/waiting.js';
import { defineModule, defineScope } from '../../module.js';
import { HashPool } from '../../password/hash-pool.js';
import { isKnownScheme } from '../../password/quick-crypt.js';
import { systemCrypt } from '../../password/system-crypt.js';
import { type PasswordVerdict, PasswordVerifier } from '../../password/verifier.js';
import { AGAIN, DECLINED, OK, type Result } from '../../task/codes.js';
import { readUsers } from './user-file.js';

interface Settings {
  realm: ComplexValue<Request> | undefined;
  userFile: ComplexValue<Request> | undefined;
  /** Where relative names of files begin. */
  folder: string;
}

const ANYauthLine = In.HTTP | In.SERVER | In.LOCATION | In.LIMIT_EXCEPT;

const scope = defineScope<Settings>({
  fields: {
    realm: inherit<ComplexValue<Request> | undefined>(undefined),
    userFile: inherit<ComplexValue<Request> | undefined>(undefined),
    folder: inherit(''),
  },
  directives: {
    // Syntax: auth_basic string | off;
    auth_basic: { in: ANYauthLine, args: 1, set: complex('realm') },
    // Syntax: auth_basic_user_file file;
    auth_basic_user_file: {
      in: ANYauthLine,
      args: 1,
      set(conf, node, ctx) {
        if (conf.userFile !== undefined) {
          ctx.reject('is duplicate');
        }
        const path = node.args[0]!;
        conf.folder = ctx.path('', 'conf');
        conf.userFile = ctx.complex(path.startsWith('$') ? path : ctx.path(path, 'conf'));
      },
    },
  },
});

/** What checks passwords. */
interface Checker {
  readonly verifier: PasswordVerifier;
  /** The system's schemes are there, too. */
  readonly all: boolean;
}

/** One for each worker and configuration, made with the first location that needs it. */
const checkers = new WeakMap<WorkerEnv, Checker>();

function checkerOf(env: WorkerEnv): Checker {
  let checker = checkers.get(env);
  if (checker === undefined) {
    const pool = new HashPool(new URL('./hash-thread.js', import.meta.url));
    env.onClose(() => pool.close());
    const system = systemCrypt();
    const verifier = new PasswordVerifier((password, stored, callback) => {
      if (system === undefined || isKnownScheme(stored)) {
        pool.hash(password, stored, callback);
      } else {
        system(password, stored, callback);
      }
    });
    checker = { verifier, all: system !== undefined };
    checkers.set(env, checker);
  }
  return checker;
}

// nginx: ngx_http_auth_basic_handler.
function handler(realm: ComplexValue<Request>, userFile: ComplexValue<Request>, folder: string, { verifier, all }: Checker): PhaseHandler {
  return (r) => {
    const text = realm.eval(r);
    if (text === 'off') {
      return DECLINED;
    }
    const credentials = basicCredentials(r);
    if (credentials === undefined) {
      r.log(INFO, 'no user/password was provided for basic authentication');
      return challenge(r, text);
    }
    const path = resolvePath(userFile.eval(r), folder);
    if (climbsByVariables(userFile, path)) {
      r.log(ERROR, `"${path}" leads out of "${userFile.text}"`);
      return 403;
    }
    const users = readUsers(r, path);
    if (typeof users === 'number') {
      return users;
    }
    const { user, password } = credentials;
    const stored = users.get(user);
    if (stored === undefined) {
      r.log(ERROR, `user "${user}" was not found in "${path}"`);
      return challenge(r, text);
    }
    if (!all && !isKnownScheme(stored)) {
      r.log(CRIT, 'crypt_r() failed (22: Invalid argument)');
      return 500;
    }
    let answer: (result: () => Result) => void;
    const verdict = verifier.verify(password, stored, (later) => answer(() => judge(r, user, text, later)));
    if (typeof verdict === 'object') {
      answer = waiting(r, endsWithoutClient);
      r.onFinish(() => verdict.abandon());
      return AGAIN;
    }
    return judge(r, user, text, verdict);
  };
}

const authLine = (r: Request): TraceDirective => ({ in: r.location, directive: 'auth_basic' });

// nginx: ngx_http_auth_basic_crypt_handler.
function judge(r: Request, user: string, realm: string, verdict: PasswordVerdict): Result {
  r.trace?.add(r, 'access', `auth_basic: the password of "${user}" is ${verdict === 'match' ? 'right' : 'wrong'}`, authLine(r), { user });
  if (verdict === 'match') {
    return OK;
  }
  if (verdict === 'failed') {
    // The thread has died, which happens only without memory.
    r.log(CRIT, 'crypt_r() failed (12: Cannot allocate memory)');
    return 500;
  }
  r.log(ERROR, `user "${user}": password mismatch`);
  return challenge(r, realm);
}

/**
 * A challenge stands beside those that are there, such as a backend's whose error brought the request here. nginx:
 * ngx_http_auth_basic_set_realm.
 */
function challenge(r: Request, realm: string): Result {
  r.trace?.add(r, 'access', 'auth_basic: asks for a user and a password', authLine(r));
  const text = `Basic realm="${lineText(realm)}"`;
  if (asksProxy(r)) {
    r.out.adopt('proxyAuthenticate', 'Proxy-Authenticate', text);
    return 407;
  }
  r.out.adopt('wwwAuthenticate', 'WWW-Authenticate', text);
  return 401;
}

/** Asks for a user's name and password. nginx: ngx_http_auth_basic_module. */
export const authBasicModule = defineModule({
  name: 'auth_basic',
  location: scope,
  phases: {
    access({ realm, userFile, folder }, env) {
      if (realm === undefined || userFile === undefined || realm.constant === 'off') {
        return undefined;
      }
      return handler(realm, userFile, folder, checkerOf(env));
    },
  },
});

import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { keySet, sharedKey, token } from '../support/tokens.js';

if (againstNginx) {
  t.bailout('auth_jwt is not in nginx');
}

// A script asks by `r.subrequest()` whether a token is right, as nginx's program for OpenID Connect does.

const right = sharedKey('one', 'a secret of thirty-two bytes, or more');
const wrong = sharedKey('one', 'another one of thirty-two bytes, or more');

t.test('auth_jwt in subrequests of scripts', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      auth_jwt_key_request /keys;
      location = /ask { js_content main.ask; }
      location = /check { internal; auth_jwt "" token=$arg_token; js_content main.claims; }
      location = /keys { internal; alias %%DIR%%/keys.json; }
      location = /page { ssi on; default_type text/html; alias %%DIR%%/page.html; }
      location = /part { auth_jwt ""; return 200 "part"; }
      location = /asked { auth_request /part; return 204; }
      location = /inherits { auth_jwt closed; auth_jwt_key_request /closed-keys; js_content main.ask; }
      location = /closed-keys { internal; auth_jwt closed; alias %%DIR%%/keys.json; }`,
      'js_import main.js;',
    ),
    files: {
      'keys.json': keySet(right),
      'page.html': '<!--# include virtual="/part" -->',
      'main.js': `
async function ask(r) { const reply = await r.subrequest('/check', 'token=' + r.args.t); r.return(200, reply.status + (reply.status === 200 ? reply.responseText : '')); }
function claims(r) { r.return(200, r.variables.jwt_claim_sub); }
export default { ask, claims };`,
    },
  });
  const ask = async (text: string): Promise<string> => (await httpGet(s.port(0), `/ask?t=${text}`)).text;
  t.equal(await ask(token(right, { sub: 'me' })), '200me');
  t.equal(await ask(token(wrong, { sub: 'me' })), '401');
  t.equal(await ask(''), '401');
  t.equal((await httpGet(s.port(0), '/page')).text, 'part', 'other subrequests have no access phase, as ever');
  t.equal((await httpGet(s.port(0), '/asked')).status, 204);
  const headers = { Authorization: `Bearer ${token(right, { sub: 'me' })}` };
  t.equal((await httpGet(s.port(0), `/inherits?t=${token(right, { sub: 'you' })}`, headers)).text, '200you', 'nor has that for the keys');
});

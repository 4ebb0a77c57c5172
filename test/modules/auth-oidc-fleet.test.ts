import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { openIdScene } from '../support/openid-scene.js';
import { startRedis, withoutEngine } from '../support/redis.js';
import { waitFor } from '../support/wait.js';
import { WebBrowser } from '../support/web-browser.js';

const XHR = { headers: { 'Sec-Fetch-Mode': 'cors' }, follow: 0 };

t.test(
  'all machines of a fleet have the sessions',
  { skip: againstNginx ? 'sluice alone has a shared store' : withoutEngine },
  async (t) => {
    const redis = await startRedis(t);
    const fleet = (node: string) => ({
      main: `shared_store fleet { server 127.0.0.1:${redis.port}; node ${node}; }`,
      http: 'keyval_zone zone=all:1m timeout=1h sync;',
      lines: 'session_store all; logout_uri /logout;',
    });
    const one = await openIdScene(t, fleet('one'));
    const two = await openIdScene(t, { ...fleet('two'), known: one.provider });
    await Promise.all([one, two].map(({ s }) => s.logged('shared store "fleet" is connected')));
    const browser = new WebBrowser();
    t.match((await browser.visit(`${one.own}/`)).text, /^jones/);
    await waitFor(async () => (await browser.visit(`${two.own}/`, XHR)).status === 200, { what: 'the session on the other machine' });
    const begun = await new WebBrowser().visit(`${one.own}/`, { follow: 0 });
    const state = new URL(begun.header('location')!).searchParams.get('state');
    const known = await new WebBrowser().visit(`${two.own}/oidc_callback?code=x&state=${state}`, { follow: 0 });
    t.equal(known.status, 302, 'a login that was begun at the other machine is known');
    await browser.copy().visit(`${two.own}/logout`, { follow: 0 });
    await waitFor(async () => (await browser.visit(`${one.own}/`, XHR)).status === 401, { what: 'the logout on the other machine' });
  },
);

import { createHash } from 'node:crypto';
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

const md5 = (text: string) => createHash('md5').update(text, 'latin1');
const hash = (text: string) => md5(text).digest('base64url');

t.test('secure_link and secure_link_md5', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / {
        secure_link $arg_h; secure_link_md5 "secret$uri";
        return 200 "[$secure_link]";
      }
      location /expires {
        secure_link $arg_h,$arg_e; secure_link_md5 "secret$uri$arg_e";
        return 200 "[$secure_link][$secure_link_expires]";
        location /expires/inherited { return 200 "[$secure_link][$secure_link_expires]"; }
      }
      location /half { secure_link $arg_h; return 200 "[$secure_link]"; }
      location /unset { return 200 "[$secure_link][$secure_link_expires]"; }`),
  });
  for (const [path, expected] of [
    [`/a?h=${hash('secret/a')}`, '[1]'],
    [`/a?h=${hash('secret/a')}==`, '[1]'],
    [`/a?h=${hash('secret/b')}`, '[]'],
    [`/a?h=${hash('secret/a').slice(0, 21)}`, '[]'],
    [`/a?h=${hash('secret/a')}x`, '[]'],
    [`/a?h=${hash('secret/a').slice(0, 21)}+`, '[]'],
    ['/a', '[]'],
    [`/expires?e=4102444800&h=${hash('secret/expires4102444800')}`, '[1][4102444800]'],
    [`/expires?e=100&h=${hash('secret/expires100')}`, '[0][100]'],
    [`/expires?e=100&h=${hash('secret/expires101')}`, '[][100]'],
    [`/expires?e=0&h=${hash('secret/expires0')}`, '[][]'],
    [`/expires?e=9223372036854775807&h=${hash('secret/expires9223372036854775807')}`, '[1][9223372036854775807]'],
    [`/expires?e=9223372036854775808&h=${hash('secret/expires9223372036854775808')}`, '[][]'],
    [`/expires?e=00000000004102444800&h=${hash('secret/expires00000000004102444800')}`, '[1][00000000004102444800]'],
    [`/expires?e=1x&h=${hash('secret/expires1x')}`, '[][]'],
    [`/expires?h=${hash('secret/expires')}`, '[][]'],
    [`/expires/inherited?e=4102444800&h=${hash('secret/expires/inherited4102444800')}`, '[1][4102444800]'],
    [`/half?h=${hash('secret/half')}`, '[]'],
    ['/unset', '[][]'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, expected, path);
  }
});

t.test('secure_link_secret', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /p/ {
        secure_link_secret word;
        if ($secure_link = "") { return 403; }
        return 200 "$secure_link";
      }`),
  });
  const sign = (link: string) => md5(`${link}word`).digest('hex');
  for (const [path, status] of [
    [`/p/${sign('file')}/file`, 200],
    [`/p/${sign('file').toUpperCase()}/file`, 200],
    [`/p/${sign('a/b?c=d')}/a/b?c=d`, 200],
    [`/p/${sign('file')}/other`, 403],
    [`/p/${sign('file').slice(1)}/file`, 403],
    [`/p/${'g'.repeat(32)}/file`, 403],
    [`/p/${sign('')}/`, 403],
    ['/p/', 403],
  ] as const) {
    t.equal((await httpGet(s, path)).status, status, path);
  }
  t.equal((await httpGet(s, `/p/${sign('a%20b')}/a%20b`)).text, 'a%20b', 'as it was sent');

  const outer = await startServer(t, { conf: serverConf('secure_link_secret word; location /p/ { return 200 "$secure_link"; }') });
  t.equal((await httpGet(outer, `/p/${sign('file')}/file`)).text, 'file', 'inherited from the server');
});

t.test('messages', async (t) => {
  for (const [lines, message] of [
    ['secure_link a; secure_link b;', '"secure_link" directive is duplicate in %%FILE%%:7'],
    ['secure_link_secret a; secure_link_secret b;', '"secure_link_secret" directive is duplicate in %%FILE%%:7'],
    ['secure_link_secret a; secure_link b;', '"secure_link_secret" cannot be mixed with "secure_link" and "secure_link_md5" in %%FILE%%:9'],
  ] as const) {
    t.equal(await configMessage(t, httpConf(`server { location / {\n${lines}\n} }`)), message, lines);
  }
});

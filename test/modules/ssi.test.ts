import t from 'tap';
import { startOrigin } from '../support/origin.js';
import { httpGet, RawClient } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const FAILURE = '[an error occurred while processing the directive]';
const tooLong = 'x'.repeat(300);
const long = 'y'.repeat(200_000);

const pages: { readonly [name: string]: { readonly page: string; readonly shows: string } } = {
  'echo.html': { page: 'X<!--#echo var="arg_a" -->X<!--# echo var="none" -->', shows: 'X&lt;1&gt;X(none)' },
  'encoding.html': {
    page:
      '<!--#set var="v" value="<a b>" --><!--#echo var="v" --> <!--#echo var="v" encoding="url" --> ' +
      '<!--#echo var="V" --> <!--#echo encoding="none" var="v"--> <!--#echo var="v" encoding="bad" -->',
    shows: '&lt;a b&gt; %3Ca%20b%3E %3Ca%20b%3E <a b> <a b>',
  },
  'default.html': { page: '<!--#echo var="no" default="d" -->|<!--#echo var="no" default="" -->|', shows: 'd||' },
  'set.html': {
    page:
      '<!--#set var="a" value="1" --><!--#set var="b" value="${a}$a-\\$a \\x $none." --><!--#echo var="b" -->' +
      '<!--#set var="c" value="${a" --><!--#set var="d" value="$ " -->',
    shows: '11-$a \\x .[an error occurred while processing the directive][an error occurred while processing the directive]',
  },
  'include.html': {
    page: '1<!--#include virtual="/part.html?a=in" -->2<!--#include file="part.html" -->3<!--#include virtual="p%61rt.html" wait="yes" -->4',
    shows: '1[in]2[(none)]3[(none)]4',
  },
  'dir/relative.html': {
    page: '<!--#include virtual="x.txt" --> <!--#include virtual="../part.html" -->',
    shows: 'in dir [an error occurred while processing the directive]',
  },
  'nested.html': {
    page: 'a<!--#include virtual="/include.html" -->b<!--#include virtual="/echo.html" -->c',
    shows: 'a1[in]2[(none)]3[(none)]4bX(none)X(none)c',
  },
  'shared.html': {
    page: '<!--#set var="s" value="set" --><!--#include virtual="/sets.html" wait="yes" --><!--#echo var="s" -->',
    shows: 'set;inner',
  },
  'large.html': { page: '<<!--#include virtual="/large.txt" -->><!--#include virtual="/large.txt" -->.', shows: `<${long}>${long}.` },
  'after-large.html': {
    page: `${long}<!--#include virtual="/part.html" -->${long}<!--#echo var="no" -->`,
    shows: `${long}[(none)]${long}(none)`,
  },
  'empty.html': { page: 'a<!--#include virtual="/empty.txt" -->b<!--#include virtual="/no-content" -->c', shows: 'abc' },
  'variable.html': {
    page: '<!--#include virtual="/part.html?a=kept" set="v" -->(<!--#echo var="v" -->)<!--#include virtual="/missing" set="w" -->(<!--#echo var="w" -->)',
    shows: '([kept])()',
  },
  'block.html': {
    page:
      '<!--#block name="b" -->stub <!--#echo var="arg_a" --><!--#endblock -->1<!--#include virtual="/missing" stub="b" -->2' +
      '<!--#include virtual="/part.html" stub="b" -->3<!--#include virtual="/part.html" stub="c" -->',
    shows: '1stub (none)2[(none)]3[an error occurred while processing the directive]',
  },
  'if.html': {
    page: '<!--#if expr="$arg_a" -->if<!--#elif expr="$arg_b" -->elif<!--#else -->else<!--#endif -->.',
    shows: 'if.',
  },
  'elif.html': {
    page: '<!--#if expr="$arg_b" -->if<!--#elif expr="$arg_a = <1>" -->elif<!--#elif expr="$arg_a" -->2<!--#else -->else<!--#endif -->.',
    shows: 'elif.',
  },
  'else.html': {
    page: '<!--#if expr="$arg_a != <1>" -->if<!--#elif expr="\'x\' = y" --><!--#echo var="no" --><!--#else -->else<!--#endif -->.',
    shows: 'else.',
  },
  'regex.html': {
    page:
      '<!--#if expr="$uri = /^.(re)(?<rest>gex)(no)?/" --><!--#echo var="1" -->-<!--#echo var="rest" -->-<!--#echo var="3" --><!--#endif -->' +
      '<!--#if expr="$uri != /x$/" -->none<!--#endif --><!--#if expr="abc = \\/abc" -->bad<!--#endif -->' +
      '<!--#if expr="$uri = /(/" -->bad<!--#endif -->',
    shows: `re-gex-(none)${FAILURE}none${FAILURE}${FAILURE}bad${FAILURE}`,
  },
  'misplaced.html': {
    page: '<!--#else --><!--#endif --><!--#if expr="a" -->1<!--#if expr="b" -->2<!--#endif -->',
    shows: '[an error occurred while processing the directive]'.repeat(2) + '1[an error occurred while processing the directive]2',
  },
  'malformed.html': {
    page:
      '<!-- # --><!-#<<!--x<!--#bad -->1<!--#echo -->2<!--#echo var="a" var="b" -->3<!--#echo foo="a" -->4<!--#echo var -->5<!--#echo var=a -->' +
      `6<!--#echo var="a"x -->7<!--#echo var="${tooLong}" -->8<!--#config errmsg="E" --><!--#echo var="a" - -->9<!--#toolongacommandname${tooLong} -->` +
      '<!--#include virtual="/../x" --><!--#include -->',
    shows: `<!-- # --><!-#<<!--x${[1, 2, 3, 4, 5, 6, 7].map((n) => `[an error occurred while processing the directive]${n}`).join('')}[an error occurred while processing the directive]8E9EEE`,
  },
  'time.html': { page: '<!--#config timefmt="%%,%Y" --><!--#echo var="date_gmt" -->', shows: `%,${new Date().getUTCFullYear()}` },
  'cut.html': { page: 'end<!-', shows: 'end' },
};

t.test('ssi', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { ssi on; gzip on; gzip_min_length 1; }
      location /no-content { return 204; }
      location /large.txt { }
      location /silent { alias %%DIR%%/html/malformed.html; default_type text/html; ssi on; ssi_silent_errors on; }
      location /kept { alias %%DIR%%/html/echo.html; default_type text/html; ssi on; ssi_last_modified on; }
      location /plain { alias %%DIR%%/html/echo.html; default_type text/plain; ssi on; }
      location /typed { alias %%DIR%%/html/echo.html; default_type text/plain; ssi on; ssi_types text/plain; }
      location /short { alias %%DIR%%/html/echo.html; default_type text/html; ssi on; ssi_value_length 4; }
      location /header { add_header X-Date "$date_gmt|$date_local"; return 204; }
    `),
    files: {
      ...Object.fromEntries(Object.entries(pages).map(([name, { page }]) => [`html/${name}`, page])),
      'html/part.html': '[<!--#echo var="arg_a" -->]',
      'html/sets.html': '<!--#echo var="s" -->;<!--#set var="s" value="inner" -->',
      'html/dir/x.txt': 'in dir',
      'html/empty.txt': '',
      'html/large.txt': long,
      'html/missing.html': 'x<!--#include virtual="/missing" -->x',
    },
  });
  for (const [name, { shows }] of Object.entries(pages)) {
    const response = await httpGet(s, `/${name}?a=<1>`);
    t.equal(response.text.replaceAll(long, '...'), shows.replaceAll(long, '...'), name);
  }
  t.match(
    (await httpGet(s, '/missing.html')).text,
    /^x<html>[\s\S]*404 Not Found[\s\S]*<\/html>\r\nx$/,
    'the error page of an included request is shown',
  );
  const echo = await httpGet(s, '/echo.html');
  for (const name of ['Last-Modified', 'ETag', 'Accept-Ranges', 'Content-Length']) {
    t.equal(echo.header(name), undefined, name);
  }
  const kept = await httpGet(s, '/kept');
  t.match([kept.header('Last-Modified'), kept.header('ETag')], [/GMT/, /^W\//], 'ssi_last_modified');
  t.equal((await httpGet(s, '/silent')).text, '<!-- # --><!-#<<!--x1234567' + '8' + '9');
  t.match((await httpGet(s, '/plain')).text, /^X<!--#echo/, 'only certain types');
  t.equal((await httpGet(s, '/typed')).text, 'X(none)X(none)');
  t.match((await httpGet(s, '/short')).text, /^X\[an error.*\]X/);
  t.match(
    (await httpGet(s, '/header')).header('X-Date'),
    /^\w+, \d\d-\w{3}-\d{4} \d\d:\d\d:\d\d GMT\|\w+, \d\d-\w{3}-\d{4} \d\d:\d\d:\d\d \S+$/,
  );
  t.equal((await httpGet(s, '/large.html', { 'Accept-Encoding': 'gzip' })).header('Content-Encoding'), 'gzip');
  for (const line of [
    'invalid SSI command: "bad"',
    'mandatory "var" parameter is absent in "echo" SSI command',
    'duplicate "var" parameter in "echo" SSI command',
    'invalid parameter name: "foo" in "echo" SSI command',
    'unexpected "-" symbol after "var" parameter in "echo" SSI command',
    'unexpected "a" symbol before value of "var" parameter in "echo" SSI command',
    'unexpected "x" symbol after "a" value of "var" parameter in "echo" SSI command',
    'unexpected " " symbol in "echo" SSI command',
    'no parameter in "include" SSI command',
    'unsafe URI "/../x" was detected',
    'invalid context of SSI command: "else"',
    'the "if" command inside the "if" command',
    'the closing bracket in "a" variable is missing',
    'invalid variable name in "$ "',
  ]) {
    await s.logged(line);
  }
});

t.test('a page from a server that sends it byte by byte', async (t) => {
  const text =
    'a<!--#set var="v" value="1" -->b< <!--#include virtual="/part.html?a=2" -->c<!-!<!--#echo var="v" -->d<!-- --><!--#include virtual="/slow" wait="yes" -->e';
  const origin = await startOrigin(t, async ({ target }, reply) => {
    await reply.write(`HTTP/1.1 200 OK\r\nContent-Type: text/${target === '/page' ? 'html' : 'plain'}\r\nConnection: close\r\n\r\n`);
    for (const c of target === '/page' ? text : 'slow') {
      await reply.write(c);
      await reply.sleep(1);
    }
    return reply.end();
  });
  const s = await startServer(t, {
    conf: serverConf(`
      location / { ssi on; proxy_buffering off; proxy_pass http://127.0.0.1:${origin.port}; }
      location /part.html { ssi on; }`),
    files: { 'html/part.html': '[<!--#echo var="arg_a" -->]' },
  });
  t.equal((await httpGet(s, '/page')).text, 'ab< [2]c<!-!1d<!-- -->slowe');
});

t.test('subrequest_output_buffer_size', async (t) => {
  const include = (uri: string) => `<!--#include virtual="${uri}" set="v" -->after <!--#echo var="v" -->`;
  const origin = await startOrigin(t, async ({ target }, reply) => {
    const fits = target === '/fits';
    await reply.write(
      `HTTP/1.1 200 OK\r\n${target === '/unknown' ? '' : `Content-Length: ${fits ? 10 : 11}\r\n`}Connection: close\r\n\r\n`,
    );
    return reply.end('x'.repeat(fits ? 10 : 11));
  });
  const s = await startServer(t, {
    conf: serverConf(`
      subrequest_output_buffer_size 10;
      location / { ssi on; }
      location /back/ { proxy_pass http://127.0.0.1:${origin.port}/; }`),
    files: {
      'html/fits.html': include('/back/fits'),
      'html/known.html': include('/back/known'),
      'html/unknown.html': include('/back/unknown'),
    },
  });
  t.equal((await httpGet(s, '/fits.html')).text, `after ${'x'.repeat(10)}`);
  for (const path of ['/known.html', '/unknown.html']) {
    // HTTP/1.0 has no chunks to tell a response that broke off from an empty one.
    for (const version of ['1.0', '1.1']) {
      const client = await RawClient.connect(s);
      client.send(`GET ${path} HTTP/${version}\r\nHost: localhost\r\n\r\n`);
      t.equal(await client.rest(), '', `${path} HTTP/${version}`);
    }
  }
  await s.logged('too big subrequest response: 11');
  await s.logged(/too big subrequest response while/);
});

import { type Feature, feature } from './feature.js';

/** The module of all cases: what njs and sluice both run. */
export const SCRIPT = `
function hello(r) {
  r.return(200, r.method + ' ' + r.uri + ' ' + JSON.stringify(r.args) + ' ' + r.httpVersion.length + ' ' + r.headersIn['X-Own'] + '\\n');
}
function body(r) {
  const text = r.requestText;
  r.return(200, (text === undefined ? 'none' : text.length + ' ' + text.slice(0, 20)) + '\\n');
}
function fields(r) {
  r.headersOut['X-Made'] = ['one', 'two'];
  r.headersOut['Content-Type'] = 'text/html';
  r.return(r.method === 'POST' ? 201 : 200, '<p>made</p>\\n');
}
function pieces(r) {
  r.status = 200;
  r.sendHeader();
  r.send('first ');
  r.send('second ');
  r.finish();
}
function announced(r) {
  r.status = 203;
  r.headersOut['Content-Length'] = '12';
  r.sendHeader();
  r.send('twelve bytes');
  r.finish();
}
function redirect(r) {
  r.internalRedirect('/error?from=js');
}
function named(r) {
  r.internalRedirect('@failed');
}
function status(r) {
  r.return(Number(r.args.x) >= 200 ? Number(r.args.x) : 404);
}
function fails(r) {
  throw new Error('on purpose');
}
async function asks(r) {
  const reply = await r.subrequest('/js-asked', r.method === 'POST' ? { method: 'PUT', body: 'of js' } : { args: 'a=b' });
  r.headersOut['X-Asked'] = String(reply.status);
  r.return(200, 'asked ' + reply.status + ' ' + reply.responseText);
}
async function twice(r) {
  const replies = await Promise.all([r.subrequest('/js-before'), r.subrequest('/js-asked')]);
  r.return(200, replies.map((reply) => reply.status + ' ' + reply.responseText).join('|'));
}
async function late(r) {
  await new Promise((done) => setTimeout(done, 1));
  r.return(200, 'late\\n');
}
function header(r) {
  r.headersOut['X-Filter'] = String(r.status);
  delete r.headersOut['X-Own'];
}
function longer(r) {
  delete r.headersOut['Content-Length'];
  r.headersOut['X-Filter'] = 'length taken off';
}
function upper(r, data, flags) {
  r.sendBuffer(data.replace(/t/g, 'T'), flags);
}
function doubled(r, data, flags) {
  r.sendBuffer(data.replace(/t/g, 'tt'), flags);
}
function value(r) {
  return 'value of ' + r.uri;
}
async function access(r) {
  if (r.args.x === '1') {
    r.return(403, 'not you\\n');
  }
}
async function askAccess(r) {
  const reply = await r.subrequest('/auth-js');
  if (reply.status >= 300) {
    r.return(401);
  }
}
function preread(s) {
  let length = 0;
  s.on('upload', (data, flags) => {
    length += data.length;
    if (length > 20 || flags.last) {
      s.done();
    }
  });
}
function filterUp(s) {
  s.on('upload', (data, flags) => s.send(data.replace(/x/g, 'X'), flags));
}
function filterDown(s) {
  s.on('downstream', (data, flags) => s.send(data.map((byte) => (byte === 116 ? 84 : byte)), flags));
}
function through(s) {
  s.on('downstream', (data, flags) => s.send(data, flags));
}
function admit(s) {
  s.remoteAddress === '127.0.0.1' ? s.allow() : s.deny();
}
export default { preread, filterUp, filterDown, through, admit, hello, body, fields, pieces, announced, redirect, named, status, fails, asks, twice, late, header, longer, upper, doubled, value, access, askAccess };
`;

const ASKED = 'location = /js-asked { internal; proxy_pass http://%%GROUP%%/js-asked; }\nlocation = /js-before { return 200 "before\\n"; }';

/** Where JavaScript makes the content. */
export const scriptHandlers: readonly Feature[] = [
  feature('js', (r) => ({
    location: `js_content main.${r.oneOf(['hello', 'body', 'body', 'fields', 'pieces', 'announced', 'redirect', 'named', 'status', 'fails', 'late'])};`,
    server: '# /error @failed',
  })),
  feature('js-subrequest', (r) => ({ location: `js_content main.${r.oneOf(['asks', 'asks', 'twice'])};`, server: ASKED })),
];

/** Where it changes what others make. */
export const scriptModifiers: readonly Feature[] = [
  feature('js_filter', (r) => ({
    location: r.oneOf([
      'js_header_filter main.header;',
      'js_header_filter main.longer; js_body_filter main.upper;',
      'js_header_filter main.longer; js_body_filter main.doubled;',
    ]),
  })),
  feature('js_set', () => ({ http: 'js_set $js_%%CASE%% main.value;', location: 'add_header X-Js $js_%%CASE%% always;' })),
  feature('js_access', (r) => ({
    location: `js_access main.${r.oneOf(['access', 'askAccess'])};`,
    server: `location = /auth-js { internal; proxy_pass http://%%GROUP%%/auth-${r.oneOf([200, 403])}; proxy_pass_request_body off; proxy_set_header Content-Length ""; }`,
  })),
];

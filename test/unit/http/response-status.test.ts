import t from 'tap';
import type { Request } from '../../../src/worker/http/request/request.js';
import { errorPageBody, reasonPhrase } from '../../../src/worker/http/request/response-status.js';
import { HeaderSlot } from '../../../src/worker/http/syntax/header-names.js';
import { RequestHead } from '../../../src/worker/http/syntax/request-head.js';

const page = (status: number, userAgent?: string, httpVersion = 1001, msiePadding = true): string => {
  const head = new RequestHead();
  if (userAgent !== undefined) {
    head.replace('user-agent', userAgent);
    head.note(HeaderSlot.userAgent);
  }
  const settings = { msiePadding, serverTokens: { eval: () => 'name/1' } };
  return errorPageBody(status, { head, httpVersion, location: { conf: () => settings } } as unknown as Request).toString();
};

t.test('built-in pages', async (t) => {
  t.equal(
    page(404),
    '<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n' +
      '<hr><center>name/1</center>\r\n</body>\r\n</html>\r\n',
  );
  t.equal(
    page(494),
    '<html>\r\n<head><title>400 Request Header Or Cookie Too Large</title></head>\r\n<body>\r\n<center><h1>400 Bad Request</h1></center>\r\n' +
      '<center>Request Header Or Cookie Too Large</center>\r\n<hr><center>name/1</center>\r\n</body>\r\n</html>\r\n',
  );
  t.match(page(401), '<h1>401 Authorization Required</h1>');
  t.match(page(302), '<h1>302 Found</h1>');
  t.match(page(498), '<h1>404 Not Found</h1>');
  for (const status of [200, 204, 300, 304, 305, 306, 309, 417, 422, 499, 506, 508, 599]) {
    t.equal(page(status), '', `none for ${status}`);
  }
});

t.test('padding', async (t) => {
  const chrome = 'Mozilla/5.0 Chrome/120.0.0.0 Safari/537.36';
  const padding = /(<!-- a padding to disable MSIE and Chrome friendly error page -->\r\n){6}$/;
  t.match(page(404, chrome), padding);
  t.match(page(502, 'Mozilla/4.0 (compatible; MSIE 6.0; Windows)'), padding);
  t.notMatch(page(404, 'curl/8'), padding);
  t.notMatch(page(404), padding);
  t.notMatch(page(302, chrome), padding, 'errors only');
  t.notMatch(page(404, chrome, 9), padding, 'HTTP/0.9');
  t.notMatch(page(404, chrome, 1001, false), padding, 'msie_padding off');
});

t.test('reasonPhrase', async (t) => {
  t.equal(reasonPhrase(302), 'Moved Temporarily');
  t.equal(reasonPhrase(401), 'Unauthorized');
  t.equal(reasonPhrase(425), '', 'nginx has no words for it');
});

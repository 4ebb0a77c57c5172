import t from 'tap';
import { currentHttpDate, httpDate, parseHttpDate } from '../../../src/worker/text/http-date.js';

t.test('httpDate writes what parseHttpDate reads', async (t) => {
  for (const ms of [0, 784111777000, 951782400000, 1709164800000, 4102444799000]) {
    t.match(httpDate(ms), /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/);
    t.equal(parseHttpDate(httpDate(ms)), ms / 1000);
  }
  t.equal(httpDate(784111777000), 'Sun, 06 Nov 1994 08:49:37 GMT');
  t.ok(Math.abs(parseHttpDate(currentHttpDate()) - Date.now() / 1000) < 2);
});

t.test('parseHttpDate', async (t) => {
  for (const [text, seconds] of [
    ['Sun, 06 Nov 1994 08:49:37 GMT', 784111777],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 784111777],
    ['Sun Nov  6 08:49:37 1994', 784111777],
    ['Sun Nov 16 08:49:37 1994', 784975777],
    ['x,   06 Nov 1994 08:49:37', 784111777],
    ['Fri, 01-Jan-70 00:00:00 GMT', 0],
    ['Fri, 01-Jan-69 00:00:00 GMT', 3124224000],
    ['Thu, 29 Feb 2024 00:00:00 GMT', 1709164800],
    ['Wed, 29 Feb 2023 00:00:00 GMT', -1],
    ['Thu, 29 Feb 1900 00:00:00 GMT', -1],
    ['Thu, 31 Apr 2024 00:00:00 GMT', -1],
    ['Thu, 30 Apr 2024 24:00:00 GMT', -1],
    ['Thu, 30 Apr 2024 00:60:00 GMT', -1],
    ['Thu, 30 Apr 2024 00:00:60 GMT', -1],
    ['Thu, 30 Xyz 2024 00:00:00 GMT', -1],
    ['Thu, 3 Apr 2024 00:00:00 GMT', -1],
    ['Thu,30 Apr 24', -1],
    ['', -1],
    ['rubbish', -1],
    ['1714435200', -1],
  ] as const) {
    t.equal(parseHttpDate(text), seconds, text);
  }
});

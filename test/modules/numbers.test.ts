import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpConf } from '../support/server.js';

const HUGE = '99999999999999999999';

t.test('a number that 64 bits do not hold is none', async (t) => {
  const rows: readonly [http: string, message: string][] = [
    [`error_page ${HUGE} /x;`, `invalid value "${HUGE}" in %%FILE%%:6`],
    [`error_page 404 =${HUGE} /x;`, `invalid value "=${HUGE}" in %%FILE%%:6`],
    [`limit_conn_zone $host zone=z:1m; limit_conn z ${HUGE};`, `invalid number of connections "${HUGE}" in %%FILE%%:6`],
    [`upstream u { server 127.0.0.1 weight=${HUGE}; }`, `invalid parameter "weight=${HUGE}" in %%FILE%%:6`],
    [`upstream u { server 127.0.0.1; keepalive ${HUGE}; }`, `invalid value "${HUGE}" in "keepalive" directive in %%FILE%%:6`],
    [`open_log_file_cache max=${HUGE};`, `invalid "open_log_file_cache" parameter "max=${HUGE}" in %%FILE%%:6`],
    ['error_page 9223372036854775807 /x;', 'value "9223372036854775807" must be between 300 and 599 in %%FILE%%:6'],
    ['error_page 9223372036854775808 /x;', 'invalid value "9223372036854775808" in %%FILE%%:6'],
  ];
  for (const [http, message] of rows) {
    t.strictSame([await configMessage(t, httpConf(http).replaceAll(/^.*(access_log|temp_path).*$/gm, ''))], [message], http);
  }
});

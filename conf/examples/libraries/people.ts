import pg from 'pg';
import type { HttpRequest } from 'sluice/types';

/** So many connections of each worker. */
const pool = new pg.Pool({ connectionString: process.env.DATABASE, max: 4 });
pool.on('error', (error) => ngx.log(ngx.WARN, String(error)));

/** Answers with rows of a table as JSON. */
async function list(r: HttpRequest): Promise<void> {
  const { rows } = await pool.query('SELECT id, name FROM people WHERE name ILIKE $1 ORDER BY id', [`${r.args.q ?? ''}%`]);
  r.headersOut['Content-Type'] = 'application/json';
  r.return(200, JSON.stringify(rows));
}

export default { list };

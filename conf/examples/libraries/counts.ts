import Valkey from 'iovalkey';
import type { HttpRequest } from 'sluice/types';

/** One connection of each worker, made with its first request. */
let store: Valkey | undefined;

/** Counts the visits of a page over all machines. */
async function visit(r: HttpRequest): Promise<void> {
  store ??= new Valkey(process.env.STORE ?? 'redis://127.0.0.1:6379', { maxRetriesPerRequest: 1 }).on('error', (error) => ngx.log(ngx.WARN, String(error)));
  r.return(200, `${await store.incr(`visits:${r.uri}`)}\n`);
}

export default { visit };

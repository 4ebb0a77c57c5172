import type { Context } from 'hono';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { FetchEnv } from 'sluice/types';

type Env = { Bindings: FetchEnv };

/** Milliseconds that a backend may take. */
const patience = 2000;

/** Where a backend is: the configuration says so with a variable. */
const at = (c: Context<Env>, variable: string, path: string): string => `http://${c.env.r.variables[variable]}${path}`;

async function json(url: string, client: AbortSignal): Promise<unknown> {
  const reply = await fetch(url, { signal: AbortSignal.any([client, AbortSignal.timeout(patience)]) });
  if (!reply.ok) {
    throw new Error(`${url} answers ${reply.status}`);
  }
  return reply.json();
}

const app = new Hono<Env>();

app.use('/api/*', cors({ origin: 'https://app.example.com' }));

// One answer of what two backends have.
app.get('/api/profile/:id', async (c) => {
  const id = encodeURIComponent(c.req.param('id'));
  const { signal } = c.req.raw;
  const [user, orders] = await Promise.all([
    json(at(c, 'users_backend', `/users/${id}`), signal),
    json(at(c, 'orders_backend', `/orders?user=${id}`), signal),
  ]);
  return c.json({ user, orders });
});

// All else of the users goes through as it is.
app.all('/api/users/*', (c) => {
  const { pathname, search } = new URL(c.req.url);
  return fetch(new Request(at(c, 'users_backend', pathname.slice('/api'.length) + search), c.req.raw));
});

app.onError((error, c) => {
  console.error(error.message);
  return c.json({ error: 'a backend does not answer' }, 502);
});

export default app;

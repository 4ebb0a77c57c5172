// An application of Hono with sluice in front of it, and a configuration of its own: `PORT=8080 node hono.mjs`.
import { serve as listen } from '@hono/node-server';
import { Hono } from 'hono';
import { serve } from 'sluice';

const app = new Hono();
app.get('/', (c) => c.text(`hello ${c.req.header('X-Real-IP')} from Hono\n`));

const application = listen({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, async ({ port }) => {
  const server = await serve({
    port: Number(process.env.PORT ?? 8080),
    config: `
      nginx_compatibility on;
      events {}
      http {
        access_log off;
        limit_req_zone $binary_remote_addr zone=clients:1m rate=50r/s;
        server {
          listen 127.0.0.1:8080;
          location / {
            limit_req zone=clients burst=100;
            proxy_pass http://127.0.0.1:${port};
            proxy_set_header X-Real-IP $remote_addr;
          }
        }
      }`,
  });
  console.log(`listening on ${server.url}`);
  process.once('SIGTERM', async () => {
    // sluice first: it finishes what it has passed on.
    await server.close();
    application.close();
  });
});

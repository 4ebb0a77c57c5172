// An application of Fastify with sluice in front of it, in one program: `PORT=8080 node fastify.mjs`.
import fastify from 'fastify';
import { serve } from 'sluice';

// sluice says in X-Forwarded-For who asks.
const app = fastify({ trustProxy: '127.0.0.1' });
app.get('/', (request) => `hello ${request.ip} from Fastify\n`);

await app.listen({ port: 0, host: '127.0.0.1' });
const server = await serve({ proxy: app.server.address().port, port: Number(process.env.PORT ?? 8080) });
console.log(`listening on ${server.url}`);
process.once('SIGTERM', async () => {
  // sluice first: it finishes what it has passed on.
  await server.close();
  await app.close();
});

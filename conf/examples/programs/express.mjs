// An application of Express with sluice in front of it, in one program: `PORT=8080 node express.mjs`.
import express from 'express';
import { serve } from 'sluice';

const app = express();
// sluice says in X-Forwarded-For who asks.
app.set('trust proxy', 'loopback');
app.get('/', (request, response) => response.send(`hello ${request.ip} from Express\n`));

const application = app.listen(0, '127.0.0.1', async () => {
  const server = await serve({ proxy: application.address().port, port: Number(process.env.PORT ?? 8080) });
  console.log(`listening on ${server.url}`);
  process.once('SIGTERM', async () => {
    // sluice first: it finishes what it has passed on.
    await server.close();
    application.close();
  });
});

// The application of the row about fetch handlers, here and on node:http.
const { Hono } = require('hono');

const app = new Hono();
app.get('/', (c) => c.text('ok'));
app.get('/json', (c) => c.json({ hello: c.req.query('name') ?? 'world' }));
module.exports = app;

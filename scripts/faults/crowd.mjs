// Many connections that want little, in a process of their own: each asks once and stays, or is reset as soon as it stands.
//
// The parent sends { port, count, request, reset }; the answer, once all stand or are gone, is { open, refused }.
import { connect } from 'node:net';

const AT_ONCE = 100;

process.on('disconnect', () => process.exit());
process.once('message', async ({ port, count, request, reset }) => {
  let open = 0;
  let refused = 0;
  const one = () =>
    new Promise((done) => {
      const socket = connect(port, '127.0.0.1');
      const count = (here) => {
        if (here) {
          open++;
        } else {
          refused++;
        }
        done(undefined);
      };
      socket.on('error', () => {});
      socket.once('close', () => count(false));
      socket.once(reset ? 'connect' : 'data', () => {
        socket.removeAllListeners('close');
        count(true);
        if (reset) {
          socket.resetAndDestroy();
        }
      });
      if (request) {
        socket.write(request);
      }
    });
  for (let i = 0; i < count; i += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, one));
  }
  process.send?.({ open, refused });
});

// Requests over HTTP/2 that stay open without a byte moving: uploads whose bodies do not come.
import { connect } from 'node:http2';

/** Opens so many streams on one connection; returns a function that gives them up. */
export async function holdStreams(port, count, path) {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  await new Promise((done, fail) => session.once('remoteSettings', done).once('error', fail));
  for (let i = 0; i < count; i++) {
    session.request({ ':method': 'POST', ':path': path, 'content-length': '10' }).on('error', () => {});
  }
  await new Promise((done, fail) => session.ping((error) => (error ? fail(error) : done(undefined))));
  return () => session.destroy();
}

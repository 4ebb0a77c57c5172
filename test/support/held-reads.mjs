// Loaded into a server: files of a folder that has a FIFO called `fifo` are read from that, so that their reads last until the test writes.
// What is written to them is dropped; all else is asked of the file itself.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';

const { openSync, closeSync, fstatSync, writeSync, read } = fs;
/** Descriptors of FIFOs, and which files they stand for. */
const held = new Map();

fs.openSync = (path, flags, mode) => {
  const fd = openSync(path, flags, mode);
  const fifo = `${dirname(String(path))}/fifo`;
  if (!fs.existsSync(fifo)) {
    return fd;
  }
  closeSync(fd);
  // One that is also open for writing has no end.
  const other = openSync(fifo, 'r+');
  held.set(other, String(path));
  return other;
};
fs.closeSync = (fd) => {
  held.delete(fd);
  closeSync(fd);
};
fs.fstatSync = (fd, ...options) => (held.has(fd) ? fs.statSync(held.get(fd), ...options) : fstatSync(fd, ...options));
fs.writeSync = (fd, bytes, at, length, ...place) => (held.has(fd) ? length : writeSync(fd, bytes, at, length, ...place));
/** A FIFO has no places; and as much is read as of a file, not only what is there. */
fs.read = (fd, bytes, at, length, place, done) => {
  if (!held.has(fd)) {
    read(fd, bytes, at, length, place, done);
    return;
  }
  const more = (have) => {
    read(fd, bytes, at + have, length - have, null, (error, count) => {
      if (error !== null || have + count === length) {
        done(error, have + count, bytes);
      } else {
        more(have + count);
      }
    });
  };
  more(0);
};
syncBuiltinESMExports();

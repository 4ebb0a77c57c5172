// Adds a note to an ELF executable of 64 bits, where Node's single executables look for their contents: https://nodejs.org/api/
// single-executable-applications.html names the note and the text in the program that says whether there is one. postject, which Node's
// pages name, does the same.

const HEADER = { programHeaders: 32, entrySize: 54, entries: 56 };
const ENTRY_SIZE = 56;
const [LOAD, NOTE, PROGRAM_HEADERS] = [1, 4, 6];
const READ_ONLY = 4;
const PAGE = 0x1000;
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** @param {number} n @param {number} to */
const roundUp = (n, to) => Math.ceil(n / to) * to;

/**
 * The executable with `contents` in it, as a note in a segment of its own at its end. The table of segments moves there too, as it has no
 * room for two more where it stands.
 * @param {Buffer} program
 * @param {Buffer} contents
 */
export function withContents(program, contents) {
  if (program.readUInt32BE(0) !== 0x7f454c46 || program[4] !== 2 || program[5] !== 1) {
    throw new Error('this Node is no ELF executable of 64 bits');
  }
  const first = Number(program.readBigUInt64LE(HEADER.programHeaders));
  const count = program.readUInt16LE(HEADER.entries);
  if (program.readUInt16LE(HEADER.entrySize) !== ENTRY_SIZE) {
    throw new Error('the table of segments is of another kind');
  }
  const entries = Array.from({ length: count }, (_, i) => program.subarray(first + i * ENTRY_SIZE, first + (i + 1) * ENTRY_SIZE)).map(
    (bytes) => ({
      bytes: Buffer.from(bytes),
      type: bytes.readUInt32LE(0),
      offset: Number(bytes.readBigUInt64LE(8)),
      address: Number(bytes.readBigUInt64LE(16)),
      inMemory: Number(bytes.readBigUInt64LE(40)),
    }),
  );
  const loads = entries.filter(({ type }) => type === LOAD);
  // Some kernels find the table by its offset in the file, so that the new segment's address is as far from its offset as the first one's.
  const shift = loads[0].address - loads[0].offset;
  const end = Math.max(...loads.map(({ address, inMemory }) => address + inMemory));
  const offset = roundUp(Math.max(program.length, end - shift), PAGE);
  const note = noteOf(contents);
  const tableSize = (count + 2) * ENTRY_SIZE;
  const noteAt = roundUp(tableSize, 4);
  const size = noteAt + note.length;
  const place = (at, length) => ({ offset: offset + at, address: offset + at + shift, length });

  const table = entries.map(({ bytes, type }) => (type === PROGRAM_HEADERS ? entryOf(PROGRAM_HEADERS, place(0, tableSize), 8) : bytes));
  // Segments that are loaded stand in the order of their addresses.
  const last = entries.findLastIndex(({ type }) => type === LOAD);
  table.splice(last + 1, 0, entryOf(LOAD, place(0, size), PAGE));
  table.push(entryOf(NOTE, place(noteAt, note.length), 4));

  const made = Buffer.alloc(offset + size);
  program.copy(made);
  Buffer.concat(table).copy(made, offset);
  note.copy(made, offset + noteAt);
  made.writeBigUInt64LE(BigInt(offset), HEADER.programHeaders);
  made.writeUInt16LE(count + 2, HEADER.entries);
  const fuse = made.indexOf(`${FUSE}:0`);
  if (fuse === -1) {
    throw new Error('this Node cannot be made a single executable: it holds nothing of that name, or it is one already');
  }
  made[fuse + FUSE.length + 1] = '1'.charCodeAt(0);
  return made;
}

function entryOf(type, { offset, address, length }, align) {
  const entry = Buffer.alloc(ENTRY_SIZE);
  entry.writeUInt32LE(type, 0);
  entry.writeUInt32LE(READ_ONLY, 4);
  entry.writeBigUInt64LE(BigInt(offset), 8);
  entry.writeBigUInt64LE(BigInt(address), 16);
  entry.writeBigUInt64LE(BigInt(address), 24);
  entry.writeBigUInt64LE(BigInt(length), 32);
  entry.writeBigUInt64LE(BigInt(length), 40);
  entry.writeBigUInt64LE(BigInt(align), 48);
  return entry;
}

/** A note: the lengths of its name and its contents, its kind, and both, each filled up to four bytes. */
function noteOf(contents) {
  const name = Buffer.from('NODE_SEA_BLOB\0');
  const note = Buffer.alloc(12 + roundUp(name.length, 4) + roundUp(contents.length, 4));
  note.writeUInt32LE(name.length, 0);
  note.writeUInt32LE(contents.length, 4);
  name.copy(note, 12);
  contents.copy(note, 12 + roundUp(name.length, 4));
  return note;
}

// A build for tests (SLUICE_POISON=1): memory that nobody has written yet holds a pattern, and so does memory that was given back (spoil.ts
// in src/shared/lib). Tests that run with SLUICE_TEST_POISON=1 fail on four bytes of it in anything that the server sends or writes.
export const POISONED = process.env.SLUICE_POISON === '1';

/** Stands at the beginning of each bundle. */
export const POISON_MEMORY = POISONED
  ? `if (!Buffer.poisoned) {
  Buffer.poisoned = true;
  for (const name of ['allocUnsafe', 'allocUnsafeSlow']) {
    const allocate = Buffer[name];
    Buffer[name] = (size) => allocate.call(Buffer, size).fill('zQxJ', 'latin1');
  }
}
`
  : '';

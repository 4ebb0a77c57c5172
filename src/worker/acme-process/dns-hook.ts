import { execFile } from 'node:child_process';

/** Milliseconds for one run of the program, which may wait until the record has reached all name servers. */
const TIMEOUT = 10 * 60 * 1000;
const MAX_OUTPUT = 64 * 1024;

/**
 * Runs the program that changes DNS, with the arguments that lego gives to such programs: what to do, the full name of a TXT record and
 * its value. Rejects with an Error that says why the record is not there.
 */
export function runDnsHook(program: string, action: 'present' | 'cleanup', record: string, value: string): Promise<void> {
  return new Promise((done, fail) => {
    execFile(program, [action, record, value], { timeout: TIMEOUT, maxBuffer: MAX_OUTPUT }, (error, _output, complaint) => {
      if (error === null) {
        done();
        return;
      }
      const { code, signal } = error;
      const how = signal ? `was ended by ${signal}` : typeof code === 'number' ? `exited with code ${code}` : `failed (${code})`;
      const [line = ''] = complaint.trim().split('\n');
      fail(new Error(`"${program} ${action}" ${how}${line === '' ? '' : `: ${line.slice(0, 200)}`}`));
    });
  });
}

import type { Test } from 'tap';
import { ConfigErrors } from '../../src/shared/config/configuration.js';
import { loadConfiguration } from '../../src/tools/configuration.js';
import { againstNginx } from './binary.js';
import { type Files, makePrefix } from './prefix.js';
import { testConfig } from './run-cli.js';

/**
 * The first error of a configuration, as it stands after `[emerg] ` on the first line of `-t`, with the path of the main file as
 * `%%FILE%%`; undefined when there is none. Reads it in this process, many times faster than the command line does; against a real nginx
 * it is nginx's own `-t`, which opens log files and sockets too.
 */
export async function configMessage(t: Test, conf: string, files: Files = {}): Promise<string | undefined> {
  if (againstNginx) {
    const { stderr, file } = await testConfig(t, conf, files);
    return /^\w+: \[emerg\] (.*)/m.exec(stderr)?.[1]?.replaceAll(file, '%%FILE%%');
  }
  const { dir } = await makePrefix(t, { ...files, 'sluice.conf': conf });
  const entry = `${dir}/sluice.conf`;
  try {
    await loadConfiguration({
      entry,
      prefix: `${dir}/`,
      confPrefix: `${dir}/`,
      errorLog: `${dir}/error.log`,
      globals: '',
      pid: 'logs/sluice.pid',
      signalling: false,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigErrors)) {
      throw error;
    }
    return error.findings[0]?.message.replaceAll(entry, '%%FILE%%');
  }
}

import type { Test } from 'tap';
import type { Configuration } from '../../src/shared/config/configuration.js';
import { loadConfiguration } from '../../src/tools/configuration.js';
import { makePrefix } from './prefix.js';

/** What the master takes out of a configuration, read in this process. */
export async function loadedConfiguration(t: Test, conf: string): Promise<Configuration> {
  const { dir } = await makePrefix(t, { 'sluice.conf': conf });
  const places = { entry: `${dir}/sluice.conf`, prefix: `${dir}/`, confPrefix: `${dir}/`, errorLog: `${dir}/error.log` };
  return loadConfiguration({ ...places, globals: '', pid: 'logs/sluice.pid', signalling: false });
}

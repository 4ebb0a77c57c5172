import { CRIT, NOTICE } from '../../shared/log/level.js';
import { signalText } from '../../shared/system/signal.js';
import type { Verb } from '../processes/signals.js';
import { type Master, oldMasterLives } from './master.js';
import { reload } from './reload.js';
import { reopen } from './reopen.js';
import { endAtOnce, quit } from './shutdown.js';
import { upgrade } from './upgrade.js';

const ACTIONS: Readonly<Record<Verb, string>> = {
  terminate: ', exiting',
  quit: ', shutting down',
  reload: ', reconfiguring',
  reopen: ', reopening logs',
  upgrade: ', changing binary',
  noaccept: ', stop accepting connections',
};

/** Acts on a signal. nginx: ngx_signal_handler and the loop of ngx_master_process_cycle. */
export function act(master: Master, verb: Verb, signal: NodeJS.Signals): void {
  const { log } = master.context;
  const ignored = verb === 'upgrade' && !mayUpgrade(master);
  const action = ignored ? ', ignoring' : verb === 'noaccept' && !master.daemonized ? '' : ACTIONS[verb];
  log.log(NOTICE, `${signalText(signal)} received${action}`);
  if (ignored) {
    log.log(CRIT, "the changing binary signal is ignored: you should shutdown or terminate before either old or new binary's process");
    return;
  }
  switch (verb) {
    case 'terminate':
      void endAtOnce(master);
      break;
    case 'quit':
      void quit(master);
      break;
    case 'reload':
      reload(master);
      break;
    case 'reopen':
      reopen(master);
      break;
    case 'upgrade':
      master.canary?.abandon('the program is being replaced');
      upgrade(master);
      break;
    case 'noaccept':
      if (master.daemonized) {
        master.canary?.abandon('the workers are sent away');
        master.noAccepting = true;
        master.pool.quit('all');
      }
  }
}

/** Whether neither this master's predecessor nor its successor is running. */
function mayUpgrade(master: Master): boolean {
  return !oldMasterLives(master) && master.newBinary === undefined;
}

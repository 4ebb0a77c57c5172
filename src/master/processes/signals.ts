import type { EarlySignals } from './early-signals.js';

/** What a signal asks the master to do. */
export type Verb = 'terminate' | 'quit' | 'reload' | 'reopen' | 'upgrade' | 'noaccept';

const VERBS: Readonly<Partial<Record<NodeJS.Signals, Verb>>> = {
  SIGTERM: 'terminate',
  SIGINT: 'terminate',
  SIGQUIT: 'quit',
  SIGHUP: 'reload',
  SIGUSR1: 'reopen',
  SIGUSR2: 'upgrade',
  SIGWINCH: 'noaccept',
};

/** Calls back for each signal from now on, and for a USR1 that came before. nginx: ngx_init_signals. */
export function onSignals(early: EarlySignals, act: (verb: Verb, signal: NodeJS.Signals) => void): void {
  for (const [signal, verb] of Object.entries(VERBS) as [NodeJS.Signals, Verb][]) {
    if (signal !== 'SIGUSR1') {
      process.on(signal, () => act(verb, signal));
    }
  }
  early.onReopen(() => act('reopen', 'SIGUSR1'));
}

import { constants } from 'node:os';

/** The number of a signal on this system. */
export function numberOfSignal(signal: NodeJS.Signals): number {
  return constants.signals[signal];
}

/** How the log names a signal. nginx: ngx_signal_handler. */
export function signalText(signal: NodeJS.Signals): string {
  return `signal ${numberOfSignal(signal)} (${signal})`;
}

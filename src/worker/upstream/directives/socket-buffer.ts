import type { Directive } from '../../../shared/config/define.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { loadNative } from '../../../shared/native/native.js';
import type { ClientTask } from '../../task/client-task.js';

type Key = 'socketRcvbuf' | 'socketSndbuf';

/** Reads `*_socket_rcvbuf` and `*_socket_sndbuf`, of `http` and of `stream`. */
export const socketBuffer =
  (key: Key): Directive<{ [K in Key]: number }, ClientTask>['set'] =>
  (conf, node, ctx) => {
    if (conf[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    conf[key] = parseSize(node.args[0]!) ?? ctx.reject('invalid value', { arg: 0 });
    if (typeof loadNative() === 'string') {
      ctx.warn(`"${node.name}" has no effect: Node cannot set it, and the package koffi is not there`);
    }
  };

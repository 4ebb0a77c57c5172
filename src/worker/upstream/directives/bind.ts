import type { Directive } from '../../../shared/config/define.js';
import { loadNative } from '../../../shared/native/native.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { ClientTask } from '../../task/client-task.js';
import { parseLocalAddress } from '../connection/local-address.js';

type Set = Directive<{ bind: { readonly value: ComplexValue<ClientTask>; readonly transparent: boolean } | null }, ClientTask>['set'];

/** Reads `*_bind`, of `http` and of `stream`. nginx: ngx_http_upstream_bind_set_slot. */
export const bindAddress: Set = (conf, node, ctx) => {
  if (conf.bind !== undefined) {
    ctx.reject('is duplicate');
  }
  const [address, transparent] = node.args as [string, string | undefined];
  if (address === 'off' && transparent === undefined) {
    conf.bind = null;
    return;
  }
  const value = ctx.complex(address);
  if (value.constant !== undefined && parseLocalAddress(value.constant) === undefined) {
    ctx.fail(`invalid address "${address}"`, { arg: 0 });
  }
  if (transparent === 'transparent') {
    if (typeof loadNative() === 'string') {
      ctx.fail('transparent proxying is not supported on this platform', { arg: 1 });
    }
    ctx.transparent();
  } else if (transparent !== undefined) {
    ctx.fail(`invalid parameter "${transparent}"`, { arg: 1 });
  }
  conf.bind = { value, transparent: transparent !== undefined };
};

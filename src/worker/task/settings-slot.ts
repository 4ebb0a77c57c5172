/** Places that were given so far. */
let slots = 0;

/**
 * The place where every location of `http`, and every server of `stream`, has one module's settings: `location.conf(slot)` gives them, at
 * the cost of a look into a list. Whoever reads them declares the slot; the module whose settings they are names it in its `slot`
 * (module.ts). nginx: ngx_http_get_module_loc_conf.
 */
export class LocationSlot<C> {
  /** The place in the lists `confs`. */
  readonly index: number = slots++;
  /** Ties a slot to what is read through it: settings that have more pass, others do not. */
  declare readonly takes: (settings: C) => void;
  declare readonly of: 'location';
}

/** A slot for a module's settings of a server, of `http` or of `stream`: `server.conf(slot)`. nginx: ngx_http_get_module_srv_conf. */
export class ServerSlot<C> {
  readonly index: number = slots++;
  declare readonly takes: (settings: C) => void;
  declare readonly of: 'server';
}

/** What a list of settings holds before a builder has filled it. */
export const NO_SETTINGS: readonly never[] = [];

/** A list of settings with one of them put in: others may share the list that there was. */
export function withSettings<C>(confs: readonly unknown[], slot: LocationSlot<C> | ServerSlot<C>, settings: C): readonly unknown[] {
  const own = confs.slice();
  own[slot.index] = settings;
  return own;
}

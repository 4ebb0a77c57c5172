let slots = 0;

/**
 * The place where every location has one module's settings, for code that learns its location only while a request runs, such as a
 * variable's. A module names its slot beside its scope (`slot` in module.ts), and `location.conf(slot)` gives the settings. nginx:
 * ngx_http_get_module_loc_conf.
 */
export class LocationSlot<C extends object> {
  /** The place in `LocationRuntime.confs`: only modules that have a slot take one, so that the lists stay short. */
  readonly index: number = slots++;
  /** Ties a slot to what is read through it: settings that have more pass, others do not. */
  declare readonly takes: (settings: C) => void;
}

import type { SharedContext, SharedVariable } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import type { Answers, Geoip, Kind } from './geoip.js';

type Value = (answers: Answers) => string | undefined;

/** The variables and the databases that they are of. nginx: ngx_http_geoip_vars. */
const VALUES: readonly (readonly [name: string, kind: Kind, value: Value])[] = [
  ['geoip_country_code', 'country', (a) => a.country?.code],
  ['geoip_country_code3', 'country', (a) => a.country?.code3],
  ['geoip_country_name', 'country', (a) => a.countryName],
  ['geoip_org', 'org', (a) => a.org],
  ['geoip_city_continent_code', 'city', (a) => a.cityCountry?.continent],
  ['geoip_city_country_code', 'city', (a) => a.cityCountry?.code],
  ['geoip_city_country_code3', 'city', (a) => a.cityCountry?.code3],
  ['geoip_city_country_name', 'city', (a) => a.cityCountryName],
  ['geoip_region', 'city', (a) => filled(a.city?.region)],
  ['geoip_region_name', 'city', (a) => a.regionName],
  ['geoip_city', 'city', (a) => filled(a.city?.city)],
  ['geoip_postal_code', 'city', (a) => filled(a.city?.postalCode)],
  ['geoip_latitude', 'city', (a) => degrees(a.city?.latitude)],
  ['geoip_longitude', 'city', (a) => degrees(a.city?.longitude)],
  ['geoip_dma_code', 'city', (a) => a.city?.dmaCode.toString()],
  ['geoip_area_code', 'city', (a) => a.city?.areaCode.toString()],
];

const filled = (text: string | undefined): string | undefined => text || undefined;

/** Four places, rounded as nginx rounds. nginx: ngx_sprintf("%.4f"). */
function degrees(value: number | undefined): string | undefined {
  if (value === undefined) {
    return undefined;
  }
  const size = Math.abs(value);
  let whole = Math.floor(size);
  let places = Math.floor((size - whole) * 10_000 + 0.5);
  if (places === 10_000) {
    whole++;
    places = 0;
  }
  return `${value < 0 ? '-' : ''}${whole}.${places.toString().padStart(4, '0')}`;
}

/**
 * The variables where nothing names a database: they are empty, and may be made by others, such as a `map` whose author has never loaded
 * nginx's module.
 */
export const unusedVariables: readonly SharedVariable[] = VALUES.map(([name]) => ({
  name,
  changeable: true,
  weak: true,
  get: () => undefined,
}));

type Origin = NonNullable<SharedVariable['origin']>;

/** The variables of one block, which nothing else may make any more. */
export class GeoipVariables {
  readonly #variables: (SharedVariable & { readonly kind: Kind; origin?: Origin })[];

  constructor(geoip: Geoip, ctx: SharedContext) {
    this.#variables = VALUES.map(([name, kind, value]) => ({ name, kind, get: (task: ClientTask) => value(geoip.answers(task)) }));
    for (const variable of this.#variables) {
      const before = ctx.variables.definition(variable.name);
      if (!unusedVariables.includes(before!)) {
        ctx.fail(`the duplicate "${variable.name}" variable`);
      }
      ctx.variables.define(variable);
    }
  }

  /** Tells where the database of a kind is named. */
  come(kind: Kind, origin: Origin): void {
    for (const variable of this.#variables) {
      if (variable.kind === kind) {
        variable.origin = origin;
      }
    }
  }
}

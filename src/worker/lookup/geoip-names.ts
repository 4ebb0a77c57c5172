import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What is known of a country, latin1. Its name has two forms; a number that stands for no country has no name. */
export interface GeoipCountry {
  readonly code: string;
  readonly code3: string;
  readonly continent: string;
  readonly name: string | undefined;
  readonly utf8Name: string | undefined;
}

/** As many countries a database can number. */
const COUNTRIES = 256;

/** The names that databases have numbers and codes for, which are not in the databases themselves. */
export class GeoipNames {
  readonly #countries: readonly GeoipCountry[];
  /** The regions of each country, by its code, as text: `|CODENAME` for each. */
  readonly #regions: ReadonlyMap<string, string>;

  /** Takes what {@link readGeoipNames} reads. */
  constructor(text: string) {
    const lines = text.split('\n').slice(1);
    this.#countries = lines.slice(0, COUNTRIES).map(readCountry);
    this.#regions = new Map(lines.slice(COUNTRIES).map((line) => [line.slice(0, 2), line.slice(2)]));
  }

  /** A country by its number, which is a byte. libGeoIP: GeoIP_code_by_id and its kin. */
  country(number: number): GeoipCountry {
    return this.#countries[number]!;
  }

  /** The name of a region, of whose code two characters count. libGeoIP: GeoIP_region_name_by_code. */
  region(country: string, code: string): string | undefined {
    const regions = this.#regions.get(country);
    if (regions === undefined || code.length < 2) {
      return undefined;
    }
    const key = `|${code.slice(0, 2)}`;
    const at = regions.indexOf(key);
    if (at < 0) {
      return undefined;
    }
    const end = regions.indexOf('|', at + 1);
    return regions.slice(at + key.length, end < 0 ? regions.length : end);
  }
}

function readCountry(line: string, number: number): GeoipCountry {
  const [code = '', code3 = '', continent = ''] = line.split(' ', 3);
  const [name, utf8Name = name] = line.slice(code.length + code3.length + continent.length + 3).split('|');
  return number === 0 ? { code, code3, continent, name: undefined, utf8Name: undefined } : { code, code3, continent, name, utf8Name };
}

/** Reads the names, which the build puts beside the program: they are in no process that has no use for them. */
export const readGeoipNames = (): GeoipNames =>
  new GeoipNames(readFileSync(fileURLToPath(new URL('./geoip-names.txt', import.meta.url)), 'latin1'));

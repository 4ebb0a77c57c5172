import { type Address, parseWritten } from '../../../shared/address/address.js';
import type { Cidr } from '../../address/cidr.js';
import { TrustedPeers } from '../../address/forwarded-address.js';
import type { AddressSource } from '../../lookup/address-source.js';
import type { CityRecord, GeoipDatabase } from '../../lookup/geoip-database.js';
import { type GeoipCountry, type GeoipNames, readGeoipNames } from '../../lookup/geoip-names.js';
import { type ClientTask, lastingSlot } from '../../task/client-task.js';

/** The kinds of databases, each of which a directive of its own names. */
export type Kind = 'country' | 'city' | 'org';

/** What the `geoip_` lines of `http` or of `stream` say. nginx: ngx_http_geoip_conf_t. */
export class Geoip {
  country: GeoipDatabase | undefined = undefined;
  city: GeoipDatabase | undefined = undefined;
  org: GeoipDatabase | undefined = undefined;
  readonly proxies: Cidr[] = [];
  recursive: boolean | undefined = undefined;
  readonly #source: AddressSource<ClientTask>;
  #trusted: TrustedPeers | undefined = undefined;
  #names: GeoipNames | undefined = undefined;

  constructor(source: AddressSource<ClientTask>) {
    this.#source = source;
  }

  /** Makes look-ups possible, where a database is named: reads the names. */
  start(): void {
    if (this.country !== undefined || this.city !== undefined) {
      this.#names = readGeoipNames();
    }
    if (this.proxies.length > 0) {
      this.#trusted = new TrustedPeers(this.proxies, false);
    }
  }

  /** The names of what databases number; there once it is started with a database that needs them. */
  get names(): GeoipNames {
    return this.#names!;
  }

  /** What is known of the client, as far as somebody has asked. */
  answers(task: ClientTask): Answers {
    const text = this.#source.client(task);
    const known = ANSWERS.get(task);
    // The real address may have come to light since.
    if (known !== undefined && known.text === text) {
      return known;
    }
    const answers = new Answers(this, text, this.#addressOf(task, text));
    ANSWERS.set(task, answers);
    return answers;
  }

  #addressOf(task: ClientTask, text: string): Address | undefined {
    const address = parseWritten(text);
    return address === undefined || this.#trusted === undefined
      ? address
      : this.#source.forwarded!(task, address, this.#trusted, this.recursive === true);
  }
}

/** What databases say of one address. Each is asked once, when the first variable needs it. */
export class Answers {
  /** The address that the connection had. */
  readonly text: string;
  readonly #geoip: Geoip;
  readonly #address: Address | undefined;
  #country = -1;
  #city: CityRecord | null | undefined = undefined;
  #org: string | null | undefined = undefined;

  constructor(geoip: Geoip, text: string, address: Address | undefined) {
    this.text = text;
    this.#geoip = geoip;
    this.#address = address;
  }

  get country(): GeoipCountry | undefined {
    const { country, names } = this.#geoip;
    if (this.#country < 0) {
      this.#country = country?.country(this.#address) ?? 0;
    }
    return this.#country === 0 ? undefined : names.country(this.#country);
  }

  get city(): CityRecord | undefined {
    if (this.#city === undefined) {
      this.#city = this.#geoip.city?.city(this.#address) ?? null;
    }
    return this.#city ?? undefined;
  }

  /** The country of the city. */
  get cityCountry(): GeoipCountry | undefined {
    const { city } = this;
    return city === undefined ? undefined : this.#geoip.names.country(city.country);
  }

  get org(): string | undefined {
    if (this.#org === undefined) {
      this.#org = this.#geoip.org?.name(this.#address) ?? null;
    }
    return this.#org ?? undefined;
  }

  get countryName(): string | undefined {
    const { country } = this;
    return this.#geoip.country?.utf8 ? country?.utf8Name : country?.name;
  }

  get cityCountryName(): string | undefined {
    const { cityCountry } = this;
    return this.#geoip.city?.utf8 ? cityCountry?.utf8Name : cityCountry?.name;
  }

  get regionName(): string | undefined {
    const { city, cityCountry } = this;
    return city === undefined || cityCountry === undefined ? undefined : this.#geoip.names.region(cityCountry.code, city.region);
  }
}

/** Subrequests ask for the same client. */
const ANSWERS = lastingSlot<Answers | undefined>();

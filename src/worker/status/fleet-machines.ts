import { setTimer } from '../../shared/time/timer.js';
import { SERVICE, STORE, serviceKind, storeKind } from '../../shared/zone/meter-kinds.js';
import type { WorkerEnv } from '../env.js';
import { type MachineReport, type MachinesZone, machineOf } from '../fleet/machines-zone.js';
import { StoreScript } from '../fleet/script.js';
import type { SharedStore, StoreClient } from '../fleet/shared-store.js';
import { SERVER_VERSION } from '../version.js';

/** How often (milliseconds) a machine tells of itself, and how long that counts in the store. */
const TELL_MS = 2000;
const LEASE_MS = 10_000;
/** How many milliseconds ago a machine told of itself. A clock of the store that was set back makes it less than nothing. */
const AGE = /^-?\d{1,6}$/;

/**
 * Tells of a machine, and hears of all: KEYS has the table, ARGV the machine's name, what it tells, and for how many milliseconds that
 * counts. The answer has for each other machine its name, how many milliseconds ago it told, and what. Another program may have put
 * anything there.
 */
const MACHINES_SCRIPT = new StoreScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all = redis.pcall('HGETALL', KEYS[1])
if all.err then
  redis.call('DEL', KEYS[1])
  all = {}
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f ', now) .. ARGV[2])
local found = {}
for i = 1, #all, 2 do
  local at, text = string.match(all[i + 1], '^(%d+) (.+)$')
  if not at or math.abs(now - at) > tonumber(ARGV[3]) or #text > 2048 or #all[i] > 64 then
    redis.call('HDEL', KEYS[1], all[i])
  elseif all[i] ~= ARGV[1] and #found < 3000 then
    found[#found + 1] = all[i]
    found[#found + 1] = string.format('%.0f', now - at)
    found[#found + 1] = text
  end
end
return found
`);

/** Tells the fleet of this machine, and keeps what the others tell where all workers, and `sluice status --fleet`, find it. */
export class FleetMachines implements StoreClient {
  readonly #store: SharedStore;
  readonly #zone: MachinesZone;
  readonly #env: WorkerEnv;
  readonly #key: string;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;
  #own = '';
  #before: { readonly at: number; readonly requests: number } | undefined;

  constructor(store: SharedStore, zone: MachinesZone, env: WorkerEnv) {
    this.#store = store;
    this.#zone = zone;
    this.#env = env;
    this.#key = `sluice:{${store.settings.name}}:machines`;
  }

  start(): void {
    this.#timer = setTimer(() => {
      this.#tell();
      this.#timer?.refresh();
    }, TELL_MS).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  lost(): void {
    this.#asking = false;
    this.#zone.put([[this.#store.settings.node, Date.now(), this.#own]]);
  }

  understands(reply: unknown): boolean {
    return (
      Array.isArray(reply) &&
      reply.length % 3 === 0 &&
      reply.every((text, i) => typeof text === 'string' && (i % 3 !== 1 || AGE.test(text)))
    );
  }

  replied(reply: unknown): void {
    this.#asking = false;
    const now = Date.now();
    const heard: [node: string, seenAt: number, text: string][] = [[this.#store.settings.node, now, this.#own]];
    const texts = reply as readonly string[];
    for (let i = 0; i + 2 < texts.length; i += 3) {
      if (machineOf(texts[i + 2]!) !== undefined) {
        heard.push([texts[i]!, now - Number(texts[i + 1]), texts[i + 2]!]);
      }
    }
    if (this.#timer !== undefined) {
      this.#zone.put(heard);
    }
  }

  #tell(): void {
    if (this.#asking) {
      return;
    }
    this.#asking = true;
    this.#own = JSON.stringify(this.#report());
    this.#store.run(MACHINES_SCRIPT, [this.#key], [this.#store.settings.node, this.#own, LEASE_MS], this);
  }

  #report(): MachineReport {
    const { zones, workers } = this.#env;
    const { counters } = zones;
    counters.flush();
    const { active, waiting, requests, c5xx } = counters.totals();
    const store = counters.meters.read(storeKind).get(this.#store.settings.name)?.values;
    const now = performance.now();
    const before = this.#before;
    this.#before = { at: now, requests };
    return {
      version: SERVER_VERSION,
      loadedAt: counters.meters.read(serviceKind).get('')?.values[SERVICE.loadedAt] ?? 0,
      workers,
      storeUp: Math.max(0, store?.[STORE.up] ?? 0),
      active: Math.max(0, active - waiting),
      waiting,
      requests,
      rate: before === undefined ? 0 : Math.round(((requests - before.requests) * 10_000) / (now - before.at)) / 10,
      errors: c5xx,
      local: store?.[STORE.local] ?? 0,
    };
  }
}

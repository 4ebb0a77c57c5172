import type { Scene } from '../support/prefix.js';
import type { Axis } from './axes.js';
import { Site, type SiteOptions } from './site.js';

/** Starts the servers that the axes need. `nginx`: its executable. */
export async function startSites(scene: Scene, axes: readonly Axis[], nginx?: string): Promise<Map<string, Site>> {
  const options: Record<string, SiteOptions> = {
    libuv: { name: 'libuv', engine: 'libuv' },
    uring: { name: 'uring', engine: 'uring' },
    reloading: { name: 'reloading', engine: 'libuv', reloads: true },
    workers: { name: 'workers', engine: 'libuv', workers: 4 },
    ...(nginx === undefined ? {} : { nginx: { name: 'nginx', nginx } }),
  };
  const runs = axes.flatMap(({ left, right }) => [left, right]);
  const usesHttp3 = (name: string): boolean => runs.some(({ site, http3 }) => site === name && http3);
  const names = [...new Set(runs.map(({ site }) => site))];
  return new Map(
    await Promise.all(names.map(async (name) => [name, await Site.start(scene, { ...options[name]!, http3: usesHttp3(name) })] as const)),
  );
}

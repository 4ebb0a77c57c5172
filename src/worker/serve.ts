import { loadFromSnapshot } from '../shared/config/load.js';
import type { Server, WorkerProcess } from '../shared/ipc/serve.js';
import { SqliteZoneStore } from '../shared/zone/store.js';
import type { WorkerEnv } from './env.js';
import { ConnectionCounters } from './http/connection/counters.js';
import { DebugClients } from './http/connection/debug-clients.js';
import { Acceptor } from './http/listening/acceptor.js';
import { DescriptorGate } from './http/listening/descriptor-gate.js';
import { endFailedRequest } from './http/request/at-work.js';
import type { Request } from './http/request/request.js';
import { language } from './language.js';
import { modules } from './modules/index.js';
import { processScope } from './modules/process/index.js';
import { buildRuntime } from './runtime.js';

/** Builds the server of a worker process from the configuration's snapshot. */
export function serve(worker: WorkerProcess): Server {
  const loaded = loadFromSnapshot<Request>(language, worker.snapshot);
  const settings = loaded.settings(processScope, loaded.root);
  const zones = new SqliteZoneStore(worker.zones, loaded.zones.all(), worker.id, worker.log);
  const drainers: (() => void)[] = [];
  const closers: (() => void)[] = [() => zones.close()];
  const env: WorkerEnv = {
    slot: worker.slot,
    workers: worker.process.workerProcesses,
    zones,
    log: worker.log,
    logFiles: worker.logFiles,
    named: loaded.sources.named,
    prefix: worker.snapshot.prefix,
    compatible: settings.compatibility,
    onDrain: (callback) => void drainers.push(callback),
    onClose: (callback) => void closers.push(callback),
  };
  const http = buildRuntime(loaded, modules, env);
  const debugClients = settings.debugConnections.length === 0 ? undefined : new DebugClients(settings.debugConnections);
  if (http !== undefined && debugClients !== undefined) {
    http.debugs = true;
  }
  const counters = new ConnectionCounters();
  zones.counters.attach(counters);
  const acceptor = new Acceptor(env, counters, settings.workerConnections, debugClients, new DescriptorGate(worker.sockets, worker.log));
  for (const listener of http?.listeners ?? []) {
    worker.sockets.find(({ spec }) => spec.key === listener.key)?.attach(acceptor.server(listener));
  }
  const startDraining = (): void => {
    for (const drainer of drainers.splice(0)) {
      drainer();
    }
  };
  const close = (): void => {
    startDraining();
    for (const closer of closers.splice(0).reverse()) {
      closer();
    }
  };
  return {
    start() {},
    drain(done) {
      startDraining();
      acceptor.drain(() => {
        close();
        done();
      });
    },
    failed: endFailedRequest,
    terminate() {
      acceptor.terminate();
      close();
    },
  };
}

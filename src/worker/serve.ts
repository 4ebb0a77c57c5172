import { loadFromSnapshot } from '../shared/config/load.js';
import type { Server, WorkerProcess } from '../shared/ipc/serve.js';
import { NOTICE, WARN } from '../shared/log/level.js';
import { makeRing, type NetEngineChoice } from '../shared/net/engine/choose.js';
import { RingError } from '../shared/net/uring/memory.js';
import { serverKind, storeKind, ZONE } from '../shared/zone/meter-kinds.js';
import { SqliteZoneStore } from '../shared/zone/store.js';
import { buildRuntime } from './build-http.js';
import { buildStreamRuntime } from './build-stream.js';
import { Connections } from './connections/connections.js';
import { ConnectionCounters } from './connections/counters.js';
import { DebugClients } from './connections/debug-clients.js';
import { DescriptorGate } from './connections/descriptor-gate.js';
import type { Prepare, WorkerEnv } from './env.js';
import { Replicas } from './fleet/replicas.js';
import { SharedStore } from './fleet/shared-store.js';
import { Acceptor } from './http/listening/acceptor.js';
import { knowOthers } from './http/listening/quic-listener.js';
import { endFailedTask } from './js/task.js';
import { language } from './language.js';
import { modules } from './modules/index.js';
import { processScope } from './modules/process/index.js';
import { sharedStoreScope } from './modules/shared-store/index.js';
import { network } from './net/engine/network.js';
import { FleetMachines } from './status/fleet-machines.js';
import { StreamAcceptor } from './stream/listening/acceptor.js';
import { DatagramAcceptor } from './stream/listening/datagram-acceptor.js';
import { atWork, endFailedWork } from './task/at-work.js';
import type { ClientTask } from './task/client-task.js';

/** Builds the server of a worker process from the configuration's snapshot. */
export function buildServer(worker: WorkerProcess): Server {
  const loaded = loadFromSnapshot<ClientTask>(language, worker.snapshot);
  const settings = loaded.settings(processScope, loaded.root);
  chooseEngine(settings.netEngine, worker);
  const zones = new SqliteZoneStore(worker.zones, loaded.zones.all(), worker.id, worker.log);
  const preparations: Prepare[] = [];
  const drainers: (() => void)[] = [];
  const closers: (() => void)[] = [() => zones.close()];
  const { store: storeSettings, machines: machinesRef } = loaded.settings(sharedStoreScope, loaded.root);
  const store =
    storeSettings === undefined
      ? undefined
      : new SharedStore(storeSettings, worker.log, zones.counters.meters.meter(storeKind, storeSettings.name), worker.slot !== 0);
  const replicas = store === undefined || worker.slot !== 0 ? undefined : new Replicas(store, worker.log);
  if (store !== undefined) {
    closers.push(() => store.close());
  }
  if (replicas !== undefined) {
    drainers.push(() => replicas.close());
  }
  const env: WorkerEnv = {
    slot: worker.slot,
    workers: worker.process.workerProcesses,
    zones,
    log: worker.log,
    logFiles: worker.logFiles,
    named: loaded.sources.named,
    prefix: worker.snapshot.prefix,
    confPrefix: worker.snapshot.confPrefix,
    confFile: worker.snapshot.entry,
    errorLogPath: worker.snapshot.errorLog ?? '',
    snapshot: worker.snapshot,
    ask: worker.ask,
    devReport: settings.devReport,
    compatible: settings.compatibility,
    store,
    replicas,
    beforeReady: (work) => void preparations.push(work),
    onDrain: (callback) => void drainers.push(callback),
    onClose: (callback) => void closers.push(callback),
  };
  const http = buildRuntime(loaded, modules, env);
  const machines = replicas === undefined ? undefined : new FleetMachines(store!, zones.open(machinesRef!), env);
  if (machines !== undefined) {
    drainers.push(() => machines.close());
  }
  const stream = buildStreamRuntime(loaded, modules, env);
  if (http !== undefined) {
    http.stream = stream;
  }
  const debugClients = settings.debugConnections.length === 0 ? undefined : new DebugClients(settings.debugConnections);
  for (const protocol of [http, stream]) {
    if (protocol !== undefined && debugClients !== undefined) {
      protocol.debugs = true;
    }
  }
  const counters = new ConnectionCounters();
  zones.counters.attach(counters);
  const gate = new DescriptorGate(worker.sockets, worker.log);
  const mixed = worker.sockets.some(({ spec }) => spec.udp) && worker.sockets.some(({ spec }) => !spec.udp);
  const connections = new Connections(env, counters, settings.workerConnections, debugClients, gate, mixed);
  const acceptor = new Acceptor(connections);
  for (const listener of http?.listeners ?? []) {
    const socket = worker.sockets.find(({ spec }) => spec.key === listener.key);
    if (socket === undefined) {
      continue;
    }
    if (!listener.quic) {
      acceptor.listen(listener, socket);
    } else if (socket.spec.worker !== undefined || env.slot === 0) {
      const secret = Buffer.from(worker.secret, 'hex');
      const { onForwards } = worker;
      acceptor.listenQuic(listener, socket, { worker: socket.spec.worker, workers: env.workers, secret, onForwards });
    }
  }
  if (stream !== undefined) {
    const streamAcceptor = new StreamAcceptor(connections, stream);
    let udp = 0;
    for (const listener of stream.listeners) {
      const socket = worker.sockets.find(({ spec }) => spec.key === listener.socketKey);
      if (!listener.udp) {
        if (socket !== undefined) {
          streamAcceptor.listen(listener, socket);
        }
      } else if (socket?.spec.worker !== undefined || udp++ % env.workers === env.slot) {
        // A datagram goes to whoever asks the kernel first. So that a client's datagrams stay together, one worker reads each socket.
        socket?.attachDatagrams(new DatagramAcceptor(connections, stream, listener), (handle) => network.serveDatagrams(handle));
      }
    }
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
    start() {
      store?.start();
      replicas?.start();
      machines?.start();
    },
    prepare: (done) => inTurn(preparations, done),
    drain(done) {
      startDraining();
      connections.drain(() => {
        close();
        network.whenSent(done);
      });
    },
    work: () => counters.accepted + counters.requests,
    observe() {
      const all = counters.statusClasses;
      const { meters } = zones.counters;
      return {
        accepted: counters.accepted - counters.sessions,
        requests: all.reduce((sum, n) => sum + n, 0),
        errors: all[5]!,
        times: meters.sum(serverKind).slice(ZONE.buckets),
      };
    },
    ration: (accepts) => gate.ration(accepts),
    others: knowOthers,
    failed: (error) => (!(error instanceof RingError) && endFailedTask(error, atWork())) || endFailedWork(error),
    terminate() {
      connections.terminate();
      close();
      network.flush();
    },
  };
}

/** Does one thing after the other, up to the first problem. */
function inTurn(all: readonly Prepare[], done: (problem: string | undefined) => void): void {
  const [first, ...rest] = all;
  if (first === undefined) {
    done(undefined);
    return;
  }
  first((problem) => {
    if (problem === undefined) {
      inTurn(rest, done);
    } else {
      done(problem);
    }
  });
}

/** Decides once for the process what serves its plain connections, and has one worker say so. */
function chooseEngine(choice: NetEngineChoice, { slot, log, withoutRing, onRing }: WorkerProcess): void {
  if (network.name === 'uring') {
    return;
  }
  const level = choice === 'uring' ? WARN : NOTICE;
  let ring: ReturnType<typeof makeRing> | undefined;
  if (choice !== 'libuv' && !withoutRing) {
    onRing(true);
    ring = makeRing();
  }
  if (typeof ring === 'string') {
    onRing(false);
  } else if (ring !== undefined) {
    ring.start((why) => log.log(WARN, `the event loop waits in libuv and not in the ring, which costs more: ${why}`));
    network.use(ring, slot === 0 ? (why) => log.log(level, `TLS uses the "libuv" network engine: ${why}`) : undefined);
  }
  if (slot === 0) {
    const why = typeof ring === 'string' ? `: ${ring}` : '';
    log.log(why === '' ? NOTICE : level, `using the "${network.name}" network engine${why}`);
  }
}

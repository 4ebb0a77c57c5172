export type { Serve, Server, WorkerProcess } from '../shared/ipc/serve.js';

import { LocationSlot } from '../../task/settings-slot.js';
import type { UpstreamGroup } from '../group/group.js';
import type { Declaration } from '../group/group-config.js';

/** What the block of a `stream` server knows while it is read. */
export interface StreamServerInfo {
  /** What `proxy_pass` names, where it names it without variables. */
  backend?: Declaration;
}

/** The backends of a server of `stream`, for whoever asks them something on the server's own account. */
export interface StreamBackend {
  readonly group: UpstreamGroup;
  /** `proxy_buffer_size`, bytes. */
  readonly bufferSize: number;
}

/** The backends of servers that always ask the same group. */
export const streamBackendSlot = new LocationSlot<StreamBackend | undefined>();

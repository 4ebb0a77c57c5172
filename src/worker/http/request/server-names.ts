import { ServerSlot } from '../../task/settings-slot.js';

/** How a server is called, and what tells clients where else it is. */
export interface NameSettings {
  readonly serverName: string;
  /** Requests without TLS are sent to this port; 0 for none. */
  readonly httpsPort: number;
  /** The `Alt-Svc` of responses over TLS; empty for none. */
  readonly alternative: string;
}

export const nameSlot = new ServerSlot<NameSettings>();

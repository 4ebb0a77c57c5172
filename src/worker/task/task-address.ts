import type { AddressSource } from '../lookup/address-source.js';
import type { ClientTask } from './client-task.js';

/** The client's address for look-ups, without what its messages say of it. nginx: ngx_stream_geo_addr. */
export const taskAddress: AddressSource<ClientTask> = { client: (task) => task.connection.remoteAddress };

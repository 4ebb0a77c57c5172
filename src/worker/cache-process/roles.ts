import type { Roles } from '../lifecycle.js';
import { serveLoader } from './loader.js';
import { serveManager } from './manager.js';

/** What the helper processes of the caches are there for. */
export const roles: Roles = { 'cache-manager': serveManager, 'cache-loader': serveLoader };

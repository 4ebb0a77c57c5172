// What `import { sluice } from 'sluice/vite'` gives: a plugin for Vite.
import type { AddressInfo, Server } from 'node:net';
import { resolve } from 'node:path';
import { ServeError } from '../subcommands/serve-text.js';
import { type SluiceServer, serve } from './serve.js';

/** What the plugin can be told. */
export interface VitePluginOptions {
  /** The port that sluice listens on; any free one unless given. */
  readonly port?: number;
  /** The address that sluice listens on; 127.0.0.1 unless given. */
  readonly host?: string;
  /**
   * A configuration in place of the plugin's own, which passes all requests on to Vite: its text, with `%TARGET%` where the address of
   * Vite's server belongs, such as `127.0.0.1:5173`.
   */
  readonly config?: string;
}

/** As much of Vite's servers as the plugin needs. */
interface ViteServer {
  readonly httpServer: (Pick<Server, 'address' | 'once'> & { readonly listening: boolean }) | null;
  readonly config: {
    readonly root: string;
    readonly build: { readonly outDir: string };
    readonly logger: { info(text: string): void; error(text: string): void };
  };
}

/** A plugin in the form that Vite wants. */
export interface VitePlugin {
  readonly name: string;
  configureServer(server: ViteServer): void;
  configurePreviewServer(server: ViteServer): void;
}

/**
 * A plugin for Vite. Beside `vite`, sluice passes requests and WebSockets on to Vite's server, so that a page is tried behind what will
 * serve it; beside `vite preview`, sluice serves what was built.
 */
export function sluice(options: VitePluginOptions = {}): VitePlugin {
  const beside = (server: ViteServer, start: (port: number) => Promise<SluiceServer>): void => {
    const { httpServer, config } = server;
    if (httpServer === null) {
      config.logger.error('sluice: Vite has no server of its own here, so there is nothing to be in front of');
      return;
    }
    let ended = false;
    const begin = async (): Promise<void> => {
      try {
        const running = await start((httpServer.address() as AddressInfo).port);
        if (ended) {
          await running.close();
          return;
        }
        httpServer.once('close', () => void running.close());
        config.logger.info(`  sluice:  ${running.url}`);
      } catch (error) {
        config.logger.error((error as Error).message);
      }
    };
    httpServer.once('close', () => {
      ended = true;
    });
    if (httpServer.listening) {
      void begin();
    } else {
      httpServer.once('listening', () => void begin());
    }
  };
  const where = {
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.host === undefined ? {} : { host: options.host }),
  };
  return {
    name: 'sluice',
    configureServer(server) {
      beside(server, (port) => {
        const { config, port: listen } = options;
        if (config === undefined) {
          return serve({ ...where, proxy: port });
        }
        if (!config.includes('%TARGET%')) {
          throw new ServeError('the "config" of the plugin has no %TARGET%, where the address of Vite\'s server belongs');
        }
        return serve({ config: config.replaceAll('%TARGET%', `127.0.0.1:${port}`), ...(listen === undefined ? {} : { port: listen }) });
      });
    },
    configurePreviewServer(server) {
      const { root, build } = server.config;
      beside(server, () => serve({ ...where, directory: resolve(root, build.outDir), spa: true }));
    },
  };
}

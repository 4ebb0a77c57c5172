import { CLIENT_SECRET, OpenIdProvider, type ProviderOptions } from './openid-provider.js';
import { reservePort } from './ports.js';
import type { Scene } from './prefix.js';
import { httpConf, type Server, type ServerOptions, startServer } from './server.js';

/** What a scene has beside the usual. */
export interface SceneOptions {
  /** `backchannelLogoutUri` is a path of the server. */
  readonly provider?: Partial<ProviderOptions>;
  /** Lines of the `oidc_provider` block. */
  readonly lines?: string;
  /** In place of the line with the secret. */
  readonly secret?: string;
  readonly main?: string;
  readonly http?: string;
  readonly server?: string;
  readonly workers?: number;
  /** What the page shows to who has logged in. */
  readonly shown?: string;
  /** Parameters of `listen`, and further lines; `%%OWN%%` is the port. */
  readonly listen?: string;
  readonly scheme?: 'http' | 'https';
  readonly options?: Partial<ServerOptions>;
  /** A provider of another scene in place of a new one, which does not lead browsers back to this server. */
  readonly known?: OpenIdProvider;
}

export interface OpenIdScene {
  readonly s: Server;
  readonly provider: OpenIdProvider;
  /** Scheme, host and port of the server. */
  readonly own: string;
  /** The configuration, with other lines of the block. */
  conf(lines?: string): string;
}

/** A provider, and a server on a port that the provider knows, all of whose pages need a login but `/bye`. */
export async function openIdScene(t: Scene, scene: SceneOptions = {}): Promise<OpenIdScene> {
  const { provider: options = {}, http = '', server = '', workers = 1, shown = '$oidc_claim_sub|$oidc_claim_email', listen = '' } = scene;
  const reserved = await reservePort();
  t.teardown(() => reserved.release());
  const own = `${scene.scheme ?? 'http'}://127.0.0.1:${reserved.port}`;
  const provider =
    scene.known ??
    (await OpenIdProvider.start(t, {
      redirectUris: [`${own}/oidc_callback`, `${own}/other_callback`],
      postLogoutUris: [`${own}/bye`],
      ...options,
      ...(options.backchannelLogoutUri === undefined ? {} : { backchannelLogoutUri: own + options.backchannelLogoutUri }),
    }));
  const conf = (lines = scene.lines ?? ''): string =>
    httpConf(
      `oidc_provider idp { ${provider.lines} ${scene.secret ?? `client_secret "${CLIENT_SECRET}";`} scope openid email profile; ${lines} }
      ${http}
      server {
        listen 127.0.0.1:${reserved.port} ${listen.replace('%%OWN%%', String(reserved.port))};
        auth_oidc idp;
        location / { error_page 418 =200 @shown; try_files /none =418; }
        location @shown { add_header X-Worker $pid; return 200 "${shown}"; }
        location = /bye { auth_oidc off; return 200 bye; }
        ${server}
      }`,
      `worker_processes ${workers}; ${scene.main ?? ''}`,
    );
  return { s: await startServer(t, { conf: conf(), ...scene.options }), provider, own, conf };
}

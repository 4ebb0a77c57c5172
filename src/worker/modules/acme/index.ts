import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import type { LinkContext } from '../../../shared/config/define.js';
import { ACME_ZONE, ACME_ZONE_BYTES, acmeZone, orderReports } from '../../acme/acme-zone.js';
import { OnDemand, setOnDemand } from '../../acme/on-demand.js';
import { ordersOf, type ServerScopes } from '../../acme/orders.js';
import {
  type AcmeSettings,
  acmeScope,
  type CertificateSettings,
  certificateScope,
  givesOnDemand,
  onDemandIssuers,
  zoneOf,
} from '../../acme/scopes.js';
import { ServedCertificate } from '../../acme/served-certificate.js';
import type { Order } from '../../acme/settings.js';
import { StateFolder } from '../../acme/state-folder.js';
import type { WorkerEnv } from '../../env.js';
import type { HttpRuntime, ServerRuntime } from '../../http/request/http-runtime.js';
import type { Request } from '../../http/request/request.js';
import type { ServerNames } from '../../listening/listeners.js';
import { defineModule, defineScope, type Module, type Variable } from '../../module.js';
import { resolverScope } from '../../resolver/directive/resolver-settings.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import { challengeAnswers } from '../../tls/challenge-answer.js';
import type { TlsSettings } from '../../tls/settings.js';
import { answerChallenge } from './answer-challenge.js';

/** The certificates that servers want. */
class Served {
  orders: ReadonlyMap<Block, Order> = new Map();
  readonly #certificates = new Map<string, ServedCertificate>();
  readonly #byServer = new Map<ServerRuntime, ServedCertificate>();

  /** Takes what earlier runs have left behind. */
  open(orders: ReadonlyMap<Block, Order>, settings: Readonly<AcmeSettings>, env: WorkerEnv): void {
    this.orders = orders;
    for (const { zoneId, id, issuer } of orders.values()) {
      const stored = issuer.statePath === undefined ? undefined : new StateFolder(issuer.statePath).readPair(id);
      this.#certificates.set(zoneId, new ServedCertificate(env.zones.open(zoneOf(settings)), zoneId, stored));
    }
  }

  of(server: ServerRuntime): ServedCertificate | undefined {
    // The servers are made after this.
    if (this.#byServer.size === 0) {
      for (const [block, { zoneId }] of this.orders) {
        this.#byServer.set(server.http.locationOf.get(block)!.server, this.#certificates.get(zoneId)!);
      }
    }
    return this.#byServer.get(server);
  }
}

const served = runtimePart(() => new Served());

/** nginx-acme: acme_var_certificate, acme_var_certificate_key. */
const variables: readonly Variable[] = [
  { name: 'acme_certificate', cacheable: false, get: (r) => served(r.http).of(r.server)?.certificate },
  { name: 'acme_certificate_key', cacheable: false, get: (r) => served(r.http).of(r.server)?.key },
];

/** Checks what servers want, and names the zone and the folders for it. */
function link(block: Block, orders: ReadonlyMap<Block, Order>, conf: Readonly<AcmeSettings>, ctx: LinkContext<Request>): void {
  const { resolver } = ctx.settings(resolverScope, block);
  const [first] = conf.issuers.values();
  if (first !== undefined && (resolver === undefined || resolver.servers.length === 0)) {
    ctx.fail('acme_issuer: "resolver" is not configured', first.pos);
  }
  const [given] = onDemandIssuers(conf);
  if (given !== undefined && conf.zone?.data?.sync === true) {
    ctx.fail('"on_demand" of "acme_issuer" cannot be used with "sync" of "acme_shared_zone"', given.pos);
  }
  for (const { issuer } of orders.values()) {
    if (issuer.statePath !== undefined) {
      ctx.folder(issuer.statePath);
    }
  }
  // Its size is not known before all lines are read.
  if ((conf.issuers.size > 0 || orders.size > 0) && conf.zone === undefined) {
    const pos = first?.pos ?? block.node!.pos;
    const problem = ctx.zones.name(acmeZone, ACME_ZONE, pos, { bytes: ACME_ZONE_BYTES, data: undefined });
    if (typeof problem === 'string') {
      ctx.fail(problem, pos);
    }
  }
}

function open(conf: Readonly<AcmeSettings>, orders: ReadonlyMap<Block, Order>, http: HttpRuntime, env: WorkerEnv): void {
  if (orders.size === 0 && !givesOnDemand(conf)) {
    return;
  }
  served(http).open(orders, conf, env);
  const answers = env.zones.open(zoneOf(conf));
  setOnDemand(env, new OnDemand(answers, conf.issuers));
  orderReports(http).read = () => answers.reports();
  challengeAnswers(http).find = (serverName) => answers.alpnAnswer(serverName);
}

/**
 * Certificates from CAs that speak ACME: what workers have to do with them. The registry hands over what says where and how servers take
 * TLS connections. nginx-acme: ngx_http_acme_module.
 */
export function makeAcmeModule<N extends ServerNames, T extends TlsSettings>(
  scopes: ServerScopes<N, T>,
): Module<object, AcmeSettings, CertificateSettings, object> {
  return defineModule({
    name: 'acme',
    main: acmeScope,
    server: certificateScope,
    // The checks look at all servers.
    location: defineScope<object>({
      fields: {},
      directives: {},
      link(_conf, ctx, { block, context }) {
        if (context === In.HTTP) {
          link(block, ordersOf(block, ctx, scopes, ctx), ctx.settings(acmeScope, block), ctx);
        }
      },
    }),
    variables,
    installMain(conf, http, env) {
      open(conf, ordersOf(http.block, http, scopes), http, env);
    },
    phases: {
      postRead(_conf, env, { server: { http } }) {
        const settings = http.mainSettings(acmeScope);
        const issuers = [...[...served(http).orders.values()].map(({ issuer }) => issuer), ...onDemandIssuers(settings)];
        const asked = issuers.some((issuer) => issuer.kind === 'acme' && issuer.challenge === 'http-01');
        return asked ? answerChallenge(env.zones.open(zoneOf(settings))) : undefined;
      },
    },
  });
}

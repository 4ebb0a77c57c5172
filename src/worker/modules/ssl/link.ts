import type { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { In } from '../../../shared/config/context.js';
import type { LinkContext, MergeContext } from '../../../shared/config/define.js';
import { ConfigError, mergeErrorPos, withErrno } from '../../../shared/config/errors.js';
import type { NamedFiles } from '../../../shared/config/named-files.js';
import { compressCertificates, whyNoCompression } from '../../net/openssl/certificate-compression.js';
import type { ClientTask } from '../../task/client-task.js';
import { contextBase, makeContext, tryOptions } from '../../tls/context.js';
import type { Identity } from '../../tls/identity.js';
import { parseResponder } from '../../tls/ocsp-fetch.js';
import { openSslFailure, TlsFileError } from '../../tls/pem.js';
import { hasContext, identitiesOf, isAutomatic, namesWithVariables, passwordsOf } from '../../tls/server-tls.js';
import type { TlsSettings } from '../../tls/settings.js';
import { stapleSource } from '../../tls/stapling.js';
import { certificateWarnings } from './certificate-warnings.js';

const SERVERS: number = In.SERVER | In.STREAM_SERVER;

/** Checks what a server says about TLS, in nginx's order and words, which name no place. nginx: ngx_http_ssl_merge_srv_conf. */
export function linkServer(settings: Readonly<TlsSettings>, ctx: LinkContext<ClientTask>, place: MergeContext): void {
  if ((place.context & SERVERS) === 0 || !hasContext(settings)) {
    return;
  }
  const { certificates, certificateNames, certificateKeys } = settings;
  const late = namesWithVariables(settings);
  const compile = (): void => {
    for (const name of late) {
      name.compile?.(ctx, place);
    }
  };
  if (!ctx.checking) {
    compile();
    return;
  }
  const fail = (message: string): never => {
    const { node } = place.block;
    const missing = message.includes('No such file or directory');
    throw new ConfigError(message, undefined, {
      ...(missing ? { hint: 'the file is not there: relative names start at the folder of the main configuration file' } : {}),
      ...(node === undefined ? {} : { related: [{ pos: node.pos, text: 'it is for this server' }] }),
    });
  };
  if (certificates !== undefined && (certificateKeys?.length ?? 0) < certificates.length) {
    fail(`no "ssl_certificate_key" is defined for certificate "${certificateNames[certificateNames.length - 1]}"`);
  }
  const { named } = ctx;
  try {
    tryOptions({ ...settings, ecdhCurve: 'auto', dhparam: undefined }, named);
    compile();
    const identities: Identity[] = late.length > 0 ? [] : identitiesOf(settings, passwordsOf(settings, named), named);
    if (settings.verify !== 'off' && settings.verify !== 'optional_no_ca') {
      if (settings.clientCertificate === undefined && settings.trustedCertificate === undefined) {
        fail('no ssl_client_certificate or ssl_trusted_certificate for ssl_verify_client');
      }
    }
    const base = contextBase(settings, named);
    tryOptions(settings, named);
    checkStatusRules(settings);
    checkTicketKeys(settings, named, place);
    if (settings.ticketSync !== null && settings.ticketKeyFiles.length > 0) {
      ctx.warn('"sync" of "ssl_session_tickets" has no effect beside "ssl_session_ticket_key"', place.block.node?.pos);
    }
    if (settings.stapling && settings.certificateCompression) {
      fail('"ssl_stapling" is incompatible with "ssl_certificate_compression"');
    }
    checkStaple(settings, identities, base.authorities, ctx);
    compress(settings, makeContext(base, identities), ctx);
    for (const { text, pos } of certificateWarnings(settings, identities)) {
      ctx.warn(text, pos);
    }
  } catch (error) {
    if (error instanceof ConfigError) {
      throw error;
    }
    fail(error instanceof TlsFileError ? error.message : `SSL_CTX_new() failed (SSL: ${(error as Error).message})`);
  }
}

// nginx: ngx_ssl_certificate_compression.
function compress({ certificateCompression, certificates }: TlsSettings, context: SecureContext, ctx: LinkContext<ClientTask>): void {
  const tried = certificateCompression && certificates !== undefined && whyNoCompression() === '';
  // Those of an issuer are not there yet.
  if (tried && !isAutomatic(certificates) && !compressCertificates(context)) {
    ctx.warn('SSL_CTX_compress_certs() failed, ignored');
  }
}

function checkStatusRules({ ocsp, ocspResponder, verify }: TlsSettings): void {
  if (ocsp === 'off') {
    return;
  }
  if (verify === 'optional_no_ca') {
    throw new ConfigError('"ssl_ocsp" is incompatible with "ssl_verify_client optional_no_ca"');
  }
  const responder = ocspResponder === '' ? undefined : parseResponder(ocspResponder);
  if (typeof responder === 'string') {
    throw new ConfigError(`${responder} in "ssl_ocsp_responder"`);
  }
}

// nginx: ngx_ssl_session_ticket_keys.
function checkTicketKeys({ ticketKeyFiles }: TlsSettings, named: NamedFiles, { block }: MergeContext): void {
  for (const path of ticketKeyFiles) {
    let length: number;
    try {
      length = named.read(path).length;
    } catch (error) {
      throw new ConfigError(withErrno(`open() "${path}" failed`, error), mergeErrorPos(block));
    }
    if (length !== 48 && length !== 80) {
      throw new ConfigError(`"${path}" must be 48 or 80 bytes`, mergeErrorPos(block));
    }
  }
}

function checkStaple(
  settings: TlsSettings,
  identities: readonly Identity[],
  authorities: readonly X509Certificate[],
  ctx: LinkContext<ClientTask>,
): void {
  if (!settings.stapling) {
    return;
  }
  const path = settings.staplingFile;
  if (path === undefined) {
    for (const [i, identity] of identities.entries()) {
      const source = stapleSource(identity, settings.certificates![i]!, settings, authorities);
      if (typeof source === 'string') {
        ctx.warn(source, settings.certificatePlaces[i]);
      }
    }
    return;
  }
  let content: string;
  try {
    content = ctx.named.read(path);
  } catch (error) {
    throw new TlsFileError(`BIO_new_file("${path}") failed (SSL: ${openSslFailure(error, path, 'rb')})`);
  }
  if (content.charCodeAt(0) !== 0x30) {
    throw new TlsFileError(
      `d2i_OCSP_RESPONSE_bio("${path}") failed (SSL: error:068000A8:asn1 encoding routines::wrong tag error:0688010A:asn1 encoding routines::nested asn1 error:Type=OCSP_RESPONSE)`,
    );
  }
}

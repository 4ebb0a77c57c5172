import { ownValue } from '../../../shared/collection/own-value.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseSize, parseTime } from '../../../shared/config/language/units.js';
import { readNamed } from '../../../shared/config/read-named.js';
import type { Context } from '../../module.js';
import type { SpanTarget } from '../../trace/span.js';

/** An `otel_exporter` block. */
export interface ExporterSettings {
  readonly protocol: SpanTarget['protocol'];
  readonly url: string;
  readonly tls: boolean;
  /** What `trusted_certificate` names, PEM. */
  readonly authorities: string | undefined;
  readonly headers: readonly (readonly [string, string])[];
  /** Milliseconds. */
  readonly interval: number;
  readonly batchSize: number;
  readonly batchCount: number;
}

const PROTOCOLS: readonly string[] = ['grpc', 'http/protobuf', 'http/json'] satisfies SpanTarget['protocol'][];
/** Lines and the numbers of arguments they take. */
const ARGUMENTS: Readonly<Record<string, number>> = {
  endpoint: 1,
  trusted_certificate: 1,
  header: 2,
  interval: 1,
  batch_size: 1,
  batch_count: 1,
  // Ours.
  protocol: 1,
};
/** The path that OTLP gives to traces. */
const DEFAULT_PATH = '/v1/traces';

/** Reads an `otel_exporter` block, with nginx's messages. nginx-otel: setExporter. */
export function readExporter(node: DirectiveNode, ctx: Context): ExporterSettings {
  const texts: Record<string, string> = {};
  const headers: [string, string][] = [];
  let authorities: string | undefined;
  const numbers: Record<string, number> = { interval: 5000, batch_size: 512, batch_count: 4 };
  ctx.entries(node, ({ name, args }, line) => {
    const bad = (why: string, arg = 0): never => line.fail(`"${name}" directive of "otel_exporter" ${why}`, { arg });
    const wanted = ownValue(ARGUMENTS, name) ?? line.fail(`unknown directive "${name}" in "otel_exporter"`);
    if (args.length !== wanted) {
      line.fail(`invalid number of arguments in "${name}" directive of "otel_exporter"`);
    }
    const value = args[0]!;
    if (name === 'header') {
      headers.push(readHeader(value, args[1]!, bad));
      return;
    }
    if (name === 'trusted_certificate') {
      authorities = readCertificates(value, line);
      return;
    }
    if (texts[name] !== undefined) {
      bad('is duplicate');
    }
    texts[name] = value;
    if (name === 'protocol') {
      if (!PROTOCOLS.includes(value)) {
        line.fail(`invalid value "${value}"`, { arg: 0, hint: `it is one of ${PROTOCOLS.join(', ')}` });
      }
    } else if (name !== 'endpoint') {
      numbers[name] = (name === 'interval' ? parseTime(value, 'ms') : parseSize(value)) ?? bad('invalid value');
    }
  });
  const endpoint = readEndpoint(texts.endpoint ?? '', texts.protocol as SpanTarget['protocol'] | undefined, ctx);
  return {
    ...endpoint,
    authorities,
    headers,
    interval: numbers.interval!,
    batchSize: numbers.batch_size!,
    batchCount: numbers.batch_count!,
  };
}

/** nginx knows gRPC alone, whose endpoints have no path: one that has a path is for HTTP. */
function readEndpoint(
  text: string,
  protocol: SpanTarget['protocol'] | undefined,
  ctx: Context,
): Pick<ExporterSettings, 'protocol' | 'url' | 'tls'> {
  const scheme = /^https?:\/\//i.exec(text)?.[0] ?? '';
  const tls = scheme.length === 'https://'.length;
  const rest = text.slice(scheme.length);
  const slash = scheme === '' ? -1 : rest.indexOf('/');
  const authority = slash === -1 ? rest : rest.slice(0, slash);
  const path = slash === -1 || slash === rest.length - 1 ? '' : rest.slice(slash);
  if (authority === '') {
    ctx.fail('"otel_exporter" requires "endpoint"');
  }
  const chosen = protocol ?? (path === '' ? 'grpc' : 'http/protobuf');
  if (chosen === 'grpc') {
    if (path !== '') {
      ctx.fail(`"endpoint" of "otel_exporter" has a path, "${path}", which the protocol "grpc" does not know`);
    }
    return { protocol: chosen, url: authority, tls };
  }
  const url = `${tls ? 'https' : 'http'}://${authority}${path === '' ? DEFAULT_PATH : path}`;
  if (!URL.canParse(url)) {
    ctx.fail(`invalid URL "${text}" in "endpoint" of "otel_exporter"`);
  }
  return { protocol: chosen, url, tls };
}

/** nginx-otel: addExporterHeader, with gRPC's rules for names and values. */
function readHeader(name: string, value: string, bad: (why: string, arg?: number) => never): [string, string] {
  const lower = name.toLowerCase();
  if (!/^[0-9a-z_.-]+$/.test(lower)) {
    bad('has invalid header name');
  }
  if (!/^[\x20-\x7e]*$/.test(value)) {
    bad('has invalid header value', 1);
  }
  return [lower, value];
}

function readCertificates(text: string, ctx: Context): string {
  const path = ctx.path(text, 'conf');
  return readNamed(path, ctx, `failed to open "${path}"`);
}

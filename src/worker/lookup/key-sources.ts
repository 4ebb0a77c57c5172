import { append } from '../../shared/collection/append.js';
import type { ConfigContext } from '../../shared/config/define.js';
import type { DirectiveNode } from '../../shared/config/language/ast.js';
import type { Subject } from '../../shared/value/subject.js';
import type { ZoneRef } from '../../shared/zone/kind.js';
import { httpKeyvals, type KeyvalData, type KeyvalZone } from './keyval-zone.js';

/** Where the keys of clients are found. */
interface KeySources {
  /** Complete paths. */
  files?: readonly string[];
  zones?: readonly ZoneRef<KeyvalZone, KeyvalData>[];
}

/** Reads a directive that names a file of keys. */
export function setKeyFile<R extends Subject>(conf: KeySources, { args }: DirectiveNode, ctx: ConfigContext<R>): void {
  const path = args[0]!;
  if (path.includes('$')) {
    ctx.fail(`invalid file "${path}"`, { arg: 0, hint: 'the name has no variables' });
  }
  conf.files = append(conf.files, ctx.path(path, 'conf'));
}

/** Reads a directive that names a zone of keys. */
export function setKeyZone<R extends Subject>(conf: KeySources, { args }: DirectiveNode, ctx: ConfigContext<R>): void {
  conf.zones = append(conf.zones, ctx.zone(httpKeyvals, args[0]!));
}

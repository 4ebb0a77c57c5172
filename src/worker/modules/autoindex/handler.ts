import { readdirSync } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import { CRIT, ERROR, INFO } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { EACCES, ENAMETOOLONG, ENOENT, ENOTDIR } from '../../files/file-info.js';
import { mapPath, noPath } from '../../http/request/map-path.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { discardBody } from '../../http/request/request-body.js';
import { bufferSource, sendBody, sendHeader } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { argValue } from '../../http/syntax/uri-args.js';
import { DECLINED, DONE, FAILED, OK, type Result } from '../../task/codes.js';
import { type ListEntry, readEntries } from './entries.js';
import { htmlList } from './html.js';
import { jsonList } from './json.js';
import { xmlList } from './xml.js';

/** How a location lists folders. */
export interface AutoindexSettings {
  enabled: boolean;
  format: 'html' | 'json' | 'jsonp' | 'xml';
  localtime: boolean;
  exactSize: boolean;
}

const TYPES = { html: 'text/html', json: 'application/json', jsonp: 'application/javascript', xml: 'text/xml' } as const;

/** Makes the handler that answers with a list of a folder. nginx: ngx_http_autoindex_handler. */
export function listFolder(conf: Readonly<AutoindexSettings>): PhaseHandler {
  return (r) => {
    if (r.uri.charCodeAt(r.uri.length - 1) !== 47) {
      return DECLINED;
    }
    if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0) {
      return DECLINED;
    }
    const broken = discardBody(r);
    if (broken !== OK) {
      return broken;
    }
    const path = mapPath(r);
    if (path === undefined) {
      return noPath(r);
    }
    const folder = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    const callback = conf.format === 'jsonp' ? callbackOf(r) : '';
    if (callback === undefined) {
      return 400;
    }
    const format = conf.format === 'jsonp' && callback === '' ? 'json' : conf.format;
    let names: string[];
    try {
      names = readdirSync(fsPath(folder), 'latin1');
    } catch (error) {
      return openFailed(r, folder, error as NodeJS.ErrnoException);
    }
    r.out.status = 200;
    r.out.contentType = TYPES[format];
    if (format === 'xml') {
      r.out.charset = 'utf-8';
    }
    const code = sendHeader(r);
    if (code !== OK || r.headerOnly) {
      return code;
    }
    const entries = readEntries(r, folder, names);
    if (entries === undefined) {
      return FAILED;
    }
    sendBody(r, bufferSource(Buffer.from(render(r, conf, format, callback, entries), 'latin1')));
    return DONE;
  };
}

function render(
  r: Request,
  conf: Readonly<AutoindexSettings>,
  format: AutoindexSettings['format'],
  callback: string,
  entries: readonly ListEntry[],
): string {
  if (format === 'html') {
    return htmlList(r.uri, entries, conf.localtime, conf.exactSize, r.out.charset.toLowerCase() === 'utf-8');
  }
  if (format === 'xml') {
    return xmlList(entries);
  }
  return format === 'json' ? jsonList(entries) : `/* callback */\r\n${callback}(${jsonList(entries)});`;
}

function openFailed(r: Request, folder: string, error: NodeJS.ErrnoException): Result {
  const errno = -(error.errno ?? -ENOENT);
  const status = errno === ENOENT || errno === ENOTDIR || errno === ENAMETOOLONG ? 404 : errno === EACCES ? 403 : 500;
  r.log(status === 500 ? CRIT : ERROR, `opendir() "${folder}" failed (${errnoText(errno)})`);
  return status;
}

/**
 * The function to call, by the query; empty when none is named, undefined when the name cannot be one. nginx:
 * ngx_http_autoindex_jsonp_callback.
 */
function callbackOf(r: Request): string | undefined {
  const callback = argValue(r.args, 'callback') ?? '';
  if (callback.length > 128) {
    r.log(INFO, `client sent too long callback name: "${callback}"`);
    return undefined;
  }
  if (/^[A-Za-z0-9_.]*$/.test(callback)) {
    return callback;
  }
  r.log(INFO, `client sent invalid callback name: "${callback}"`);
  return undefined;
}

import { readFileSync } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import type { Request } from '../../http/request/request.js';
import { discardBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { defineModule } from '../../module.js';
import { KnownHosts } from '../../status/known-host.js';
import { DECLINED, type Result } from '../../task/codes.js';

/** Shows what is wrong with the configuration in place of pages, while `sluice dev` says that something is. */
export const devModule = defineModule({
  name: 'dev',
  phases: {
    postRead(_conf, { devReport }, location) {
      if (devReport === undefined) {
        return undefined;
      }
      const hosts = new KnownHosts(location.server);
      return (r) => (hosts.knows(r) ? show(r, devReport) : DECLINED);
    },
  },
});

function show(r: Request, path: string): Result {
  if (r.methodBit !== METHOD.GET || r.header('accept')?.includes('text/html') !== true) {
    return DECLINED;
  }
  let report: string;
  try {
    report = readFileSync(fsPath(path), 'utf8');
  } catch {
    return DECLINED;
  }
  const broken = discardBody(r);
  if (broken !== 0) {
    return broken;
  }
  r.out.contentType = 'text/html';
  r.out.charset = 'utf-8';
  r.out.add('Cache-Control', 'no-store');
  return respondBuffer(r, 500, Buffer.from(page(report)));
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The page looks again by itself, so that what is mended shows. */
const page = (report: string): string => `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>The configuration is broken</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem;background:#1b1b1f;color:#eee}
pre{padding:1rem;background:#000;border-left:4px solid #e5484d;overflow:auto;white-space:pre-wrap}</style></head>
<body><h1>The configuration is broken</h1><p>The one before it still serves. This page goes away when it is mended.</p>
<pre>${report.replace(/[&<>]/g, (found) => ESCAPES[found]!)}</pre></body></html>
`;

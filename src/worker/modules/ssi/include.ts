import { ERROR } from '../../../shared/log/level.js';
import { isInMemory, MemorySink } from '../../http/body/memory-sink.js';
import type { Slot } from '../../http/body/postpone-stage.js';
import type { Request } from '../../http/request/request.js';
import { bufferSource, respond } from '../../http/request/respond.js';
import { startSubrequest } from '../../http/request/subrequest.js';
import { readUnsafeUri } from '../../http/request/unsafe-uri.js';
import { FAILED, OK, type Result } from '../../task/codes.js';
import { evaluatePath, type SsiBlock } from './evaluate.js';
import { SUCCEEDED, UNSUCCESSFUL, WAIT } from './outcome.js';
import type { SsiPage } from './page.js';

type Values = { readonly [name: string]: string };

/** Puts the response to another request in the command's place, or into a variable. nginx: ngx_http_ssi_include. */
export function include(r: Request, page: SsiPage, values: Values): number {
  const { virtual, file, set, stub } = values;
  const complaint = complaintAbout(values);
  if (complaint !== undefined) {
    r.log(ERROR, complaint);
    return UNSUCCESSFUL;
  }
  const path = evaluatePath(r, page.shared, (virtual ?? file)!);
  const target = path === undefined ? undefined : readUnsafeUri(r, path);
  if (target === undefined) {
    return UNSUCCESSFUL;
  }
  const block = stub === undefined ? undefined : page.shared.blocks.find(({ name }) => name === stub);
  if (stub !== undefined && block === undefined) {
    r.log(ERROR, `"stub"="${stub}" for "include" not found`);
    return UNSUCCESSFUL;
  }
  if (isInMemory(r)) {
    r.log(ERROR, `nested in-memory subrequest "${target.uri}"`);
    return UNSUCCESSFUL;
  }
  if (set !== undefined) {
    return includeInVariable(r, page, target, set.toLowerCase());
  }
  const slot = page.output.slot();
  const waits = file !== undefined || values['wait']?.toLowerCase() === 'yes';
  const sr = startSubrequest(r, {
    ...target,
    sink: slot,
    placed: true,
    ...(block === undefined ? {} : { code: (sr: Request, code: Result) => showStub(sr, code, slot, block) }),
    end() {
      slot.end();
      if (waits) {
        page.goOn(r);
      }
    },
  });
  if (sr === undefined) {
    return UNSUCCESSFUL;
  }
  page.output.keep(slot, sr);
  return waits ? WAIT : SUCCEEDED;
}

function complaintAbout({ virtual, file, wait, set, stub }: Values): string | undefined {
  if (virtual !== undefined && file !== undefined) {
    return `inclusion may be either virtual="${virtual}" or file="${file}"`;
  }
  if (virtual === undefined && file === undefined) {
    return 'no parameter in "include" SSI command';
  }
  if (set !== undefined && stub !== undefined) {
    return '"set" and "stub" cannot be used together in "include" SSI command';
  }
  if (wait === undefined) {
    return undefined;
  }
  if (virtual === undefined) {
    return `"wait" cannot be used with file="${file}"`;
  }
  return /^(no|yes)$/i.test(wait) ? undefined : `invalid value "${wait}" in the "wait" parameter`;
}

function includeInVariable(r: Request, page: SsiPage, target: { readonly uri: string; readonly args: string }, name: string): number {
  const sink = new MemorySink();
  const { variables } = page.shared;
  if (!variables.has(name)) {
    variables.set(name, '');
  }
  const sr = startSubrequest(r, {
    ...target,
    sink,
    end(sr) {
      if (sink.text !== undefined && sr.out.status < 300) {
        variables.set(name, sink.text);
      }
      page.goOn(r);
    },
  });
  return sr === undefined ? UNSUCCESSFUL : WAIT;
}

/** Shows a block where the subrequest failed or has nothing to show. nginx: ngx_http_ssi_stub_output. */
function showStub(sr: Request, code: Result, slot: Slot, block: SsiBlock): Result {
  if (code === FAILED || !slot.empty) {
    return code;
  }
  const stub = Buffer.concat(block.pieces);
  if (sr.headGiven) {
    slot.put(stub);
    return OK;
  }
  // A stub may hold commands of its own.
  sr.out.contentType = sr.parent!.out.contentType;
  return respond(sr, bufferSource(stub));
}

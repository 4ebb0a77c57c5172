import { ERROR } from '../../../shared/log/level.js';
import { EMPTY } from '../../bytes/empty.js';
import { type ExpandingStage, HeldInput } from '../../http/body/held-input.js';
import type { PostponeStage } from '../../http/body/postpone-stage.js';
import type { BodyStage, Chunk } from '../../http/request/body-stage.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { lastingSlot } from '../../task/client-task.js';
import { strftime } from '../../text/strftime.js';
import { commands } from './commands.js';
import { SharedState } from './evaluate.js';
import { NO_CONDITION, SUCCEEDED, UNSUCCESSFUL, WAIT } from './outcome.js';
import { COMMAND, MORE, Parser } from './parser.js';
import type { SsiSettings } from './settings.js';

/** nginx: NGX_HTTP_SSI_MAX_PARAMS. */
const MAX_PARAMS = 16;
/** Bytes that wait for the client before the page is read on: what commands show may be much longer than they are. */
const ENOUGH = 128 * 1024;
const DEFAULT_TIME_FORMAT = '%A, %d-%b-%Y %H:%M:%S %Z';
const shared = lastingSlot<SharedState>();
/** The page that a response is. */
export const pages = contextSlot<SsiPage>();

/** One page with commands: the main request's, or an included one. nginx: ngx_http_ssi_ctx_t. */
export class SsiPage implements BodyStage, ExpandingStage {
  readonly shared: SharedState;
  readonly #settings: Readonly<SsiSettings>;
  readonly #parser: Parser;
  #chunk: Chunk | null = null;
  #last = false;
  /** Made once there is more to show than is passed on at once. */
  #held: HeldInput | null = null;
  /** Set once the body chain is built. */
  output!: PostponeStage;

  timeFormat = DEFAULT_TIME_FORMAT;
  errorText = '[an error occurred while processing the directive]';
  encoding: 'none' | 'url' | 'entity' = 'entity';
  /** Text is shown: no `block` and no branch that was not chosen is around it. */
  shown = true;
  /** A branch of the condition at hand was chosen. */
  chosen = false;
  condition: number = NO_CONDITION;
  inBlock = false;

  constructor(r: Request, settings: Readonly<SsiSettings>) {
    const state = shared.get(r) ?? new SharedState();
    shared.set(r, state);
    this.shared = state;
    this.#settings = settings;
    this.#parser = new Parser(settings.valueLength, (piece) => this.#text(piece));
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    this.#chunk = chunk;
    this.#last = last;
    this.#parser.feed(chunk ?? EMPTY);
    this.goOn(r);
  }

  /** Reads on, at the start of a piece, after a wait, or when there is room for more. */
  goOn(r: Request): void {
    for (;;) {
      if (this.output.queued >= ENOUGH) {
        this.#held ??= new HeldInput(this);
        this.#held.hold(r, ENOUGH, this.#last);
        this.output.send(r, EMPTY, false);
        return;
      }
      const found = this.#parser.next(r);
      if (found === MORE) {
        break;
      }
      const result = found === COMMAND ? this.#run(r) : UNSUCCESSFUL;
      if (result === WAIT) {
        this.output.pause();
        this.output.flow();
        return;
      }
      if (result === UNSUCCESSFUL && !this.#settings.silentErrors) {
        this.write(this.errorText);
      }
    }
    this.#held?.done();
    const flush = this.#chunk === null && !this.#last;
    this.output.send(r, flush ? null : EMPTY, this.#last);
  }

  /** Adds text, one character for a byte, to what the page shows. */
  write(text: string): void {
    this.output.put(Buffer.from(text, 'latin1'));
  }

  #text(piece: Buffer): void {
    if (this.shown) {
      this.output.put(piece);
    } else if (this.inBlock) {
      this.#addToBlock(piece);
    }
  }

  #addToBlock(piece: Buffer): void {
    this.shared.blocks.at(-1)?.pieces.push(piece);
  }

  #run(r: Request): number {
    const { command: name, params } = this.#parser;
    const command = Object.hasOwn(commands, name) ? commands[name]! : undefined;
    if (command === undefined) {
      if (!this.shown) {
        return SUCCEEDED;
      }
      r.log(ERROR, `invalid SSI command: "${name}"`);
      return UNSUCCESSFUL;
    }
    if (!this.shown && !command.endsBlock) {
      if (this.inBlock) {
        let text = `<!--#${name}`;
        for (let i = 0; i < params.length; i += 2) {
          text += ` ${params[i]}="${params[i + 1]}"`;
        }
        this.#addToBlock(Buffer.from(`${text} -->`, 'latin1'));
        return SUCCEEDED;
      }
      if (command.within === NO_CONDITION) {
        return SUCCEEDED;
      }
    }
    if (command.within !== NO_CONDITION && (this.condition === NO_CONDITION || this.condition > command.within)) {
      r.log(ERROR, `invalid context of SSI command: "${name}"`);
      return UNSUCCESSFUL;
    }
    if (params.length / 2 > MAX_PARAMS) {
      r.log(ERROR, `too many SSI command parameters: "${name}"`);
      return UNSUCCESSFUL;
    }
    const values: { [name: string]: string } = {};
    for (let i = 0; i < params.length; i += 2) {
      const param = params[i]!;
      if (!Object.hasOwn(command.params, param)) {
        r.log(ERROR, `invalid parameter name: "${param}" in "${name}" SSI command`);
        return UNSUCCESSFUL;
      }
      if (Object.hasOwn(values, param)) {
        r.log(ERROR, `duplicate "${param}" parameter in "${name}" SSI command`);
        return UNSUCCESSFUL;
      }
      values[param] = params[i + 1]!;
    }
    for (const [param, mandatory] of Object.entries(command.params)) {
      if (mandatory && !Object.hasOwn(values, param)) {
        r.log(ERROR, `mandatory "${param}" parameter is absent in "${name}" SSI command`);
        return UNSUCCESSFUL;
      }
    }
    return command.run(r, this, values);
  }

  abort(r: Request): void {
    this.output.abort(r);
  }
}

/** The present moment as the page asks for it. nginx: ngx_http_ssi_date_gmt_local_variable. */
export function pageTime(r: Request, utc: boolean): string {
  const format = pages.get(r)?.timeFormat ?? DEFAULT_TIME_FORMAT;
  return strftime(format, Date.now(), utc);
}

// Over 400 lines: one object with all that nginx's njs gives to handlers, each part a few lines.

import { ERROR, INFO, type Level, WARN } from '../../shared/log/level.js';
import { nativeText } from '../../shared/text/native-text.js';
import { isInMemory, MemorySink } from '../http/body/memory-sink.js';
import { setContentType } from '../http/headers/content-type.js';
import { internalRedirect, namedLocation } from '../http/request/internal-redirect.js';
import { contextSlot, type Request } from '../http/request/request.js';
import { discardBody, RequestBody, readBody } from '../http/request/request-body.js';
import { respondBuffer, sendBody, sendHeader } from '../http/request/respond.js';
import { startSubrequest } from '../http/request/subrequest.js';
import { readUnsafeUri } from '../http/request/unsafe-uri.js';
import { methodBit } from '../http/syntax/method.js';
import { AGAIN, asStatus, DECLINED, DONE, FAILED, OK, type Result } from '../task/codes.js';
import { Deadline } from '../time/deadline.js';
import { argsObject } from './args-object.js';
import { SHOWN, say } from './dump.js';
import type { FetchScope } from './fetch-settings.js';
import { type Form, type FormOptions, mostFields, readForm } from './form.js';
import { headersIn, headersOut } from './header-objects.js';
import { rawVariablesOf, variablesOf } from './named-variables.js';
import { setRedirect, setStatus } from './response-head.js';
import { type RewriteOptions, rewriteUri } from './rewrite-uri.js';
import { InternalError } from './script-errors.js';
import { placeOf } from './script-place.js';
import { isPromise } from './script-promise.js';
import { ScriptSource } from './script-source.js';
import { markScriptSubrequest } from './script-subrequest.js';
import { chosenAtOnce, jsVariableNames, variableValue } from './script-variables.js';
import type { ScriptFunction } from './scripts.js';
import { currentTask, Task, type TaskEnd, type TaskOwner } from './task.js';
import { bufferOf, bytesOf, givenBuffer, integer } from './text.js';

/** Where a handler stands: what it may do depends on it. */
export type Stage = 'content' | 'access' | 'rewrite' | 'variable' | 'headers' | 'body' | 'reply';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const states = contextSlot<RequestObject>();

/** The object of a request, which all its handlers share. */
export function requestObject(r: Request): RequestObject {
  let object = states.get(r);
  if (object === undefined) {
    object = new RequestObject(r);
    states.set(r, object);
  }
  return object;
}

/** Whose tasks are those of a request. */
class RequestOwner implements TaskOwner {
  readonly njs = true;
  readonly subject: Request;

  constructor(r: Request) {
    this.subject = r;
  }

  get fetchScope(): FetchScope | undefined {
    return placeOf(this.subject.location)?.fetchScope;
  }

  get engineId(): number | undefined {
    return placeOf(this.subject.location)?.scripts?.id;
  }

  log(level: Level, message: string): void {
    this.subject.log(level, bytesOf(message));
  }
}

interface SubrequestSettings {
  readonly args?: unknown;
  readonly body?: unknown;
  readonly method?: unknown;
  readonly detached?: unknown;
}

/** How long a handler may keep its client waiting. */
export interface WaitLimit {
  /** As the directive names it. */
  readonly name: string;
  /** Milliseconds; 0: for ever. */
  readonly timeout: number;
  /** Told when the time has passed. */
  readonly timedOut: () => void;
}

/** What a body filter passes on, and whether it is the end. */
export interface FilterOutput {
  readonly pieces: Buffer[];
  last: boolean;
  done: boolean;
}

/** `r` of a handler. nginx: ngx_http_js_ext_http_request. */
export class RequestObject {
  readonly #r: Request;
  readonly #owner: RequestOwner;
  /** The request whose subrequest this is, for a reply. */
  #parent: RequestObject | undefined = undefined;
  #args: object | undefined = undefined;
  #headersIn: object | undefined = undefined;
  #rawHeadersIn: readonly (readonly [string, string])[] | undefined = undefined;
  #headersOut: object | undefined = undefined;
  #variables: object | undefined = undefined;
  #rawVariables: object | undefined = undefined;
  #source: ScriptSource | undefined = undefined;
  #reply: Buffer | undefined = undefined;
  /** The request's body as it was read, and from what. */
  #body: Buffer | undefined = undefined;
  #bodyText: string | undefined = undefined;
  #readBodyOf: RequestBody | null = null;
  #readLength: number | undefined = undefined;
  #text: string | undefined = undefined;
  #form: Promise<Form> | undefined = undefined;
  #reading: 'text' | 'buffer' | 'form' | undefined = undefined;
  #redirect: string | undefined = undefined;
  #declined = false;
  #stage: Stage = 'content';
  /** The number of phases whose functions have begun. */
  #phase = 0;
  /** The code with which the phase goes on once the handler has answered; undefined until then. */
  #code: Result | undefined = undefined;
  /** The function has given all of its answer, with whose last byte the request may end before there is a {@link #code}. */
  #complete = false;
  /** The phase waits for {@link Request.resume}. */
  #waiting = false;
  /** Functions of variables that still wait for something. */
  #background = 0;
  /** The phase's function is over, but not those. */
  #settled = false;
  /** Of a handler that waits. */
  #deadline: Deadline | undefined = undefined;
  #timeout = 0;
  #output: FilterOutput | undefined = undefined;
  #returnValue: unknown = undefined;

  constructor(r: Request) {
    const from = RequestObject.prototype;
    this.#r = r;
    this.#owner = new RequestOwner(r);
    // As in njs, its functions are its own.
    this.decline = from.decline;
    this.done = from.done;
    this.error = from.error;
    this.finish = from.finish;
    this.internalRedirect = from.internalRedirect;
    this.jsVarNames = from.jsVarNames;
    this.log = from.log;
    this.readRequestArrayBuffer = from.readRequestArrayBuffer;
    this.readRequestForm = from.readRequestForm;
    this.readRequestJSON = from.readRequestJSON;
    this.readRequestText = from.readRequestText;
    this.return = from.return;
    this.send = from.send;
    this.sendBuffer = from.sendBuffer;
    this.sendHeader = from.sendHeader;
    this.setReturnValue = from.setReturnValue;
    this.subrequest = from.subrequest;
    this.warn = from.warn;
  }

  // --- how a phase uses it

  /** What the handler that runs is. */
  get stage(): Stage {
    return this.#stage;
  }

  set stage(stage: Stage) {
    this.#stage = stage;
  }

  /** What a function of `js_set` has set. */
  get returnValue(): unknown {
    return this.#returnValue;
  }

  set returnValue(value: unknown) {
    this.#returnValue = value;
  }

  /** Runs a handler of the content, the access or a rewrite phase. Returns the code to return from it. */
  runPhase(stage: 'content' | 'access' | 'rewrite', handler: (r: RequestObject) => unknown, limit: WaitLimit): Result {
    const r = this.#r;
    this.#phase++;
    this.#settled = false;
    this.#deadline = undefined;
    this.stage = stage;
    this.#code = undefined;
    this.#complete = false;
    this.#waiting = false;
    this.#redirect = undefined;
    this.#declined = false;
    const task = new Task(this.#owner, new RequestObject.#phaseEnd(this));
    const result = task.run(handler, this);
    if (this.#code !== undefined) {
      return task.failed && !r.headerSent ? 500 : this.#code;
    }
    if (r.finished) {
      // It was broken off while the function ran.
      task.cancel();
      return AGAIN;
    }
    // A function that has not come to its end may still decide otherwise.
    if ((this.#redirect !== undefined || this.#declined) && !task.busy && !isPromise(result)) {
      task.cancel();
      return this.#settledCode();
    }
    return this.#wait(limit, task);
  }

  #wait(limit: WaitLimit, task: Task): Result {
    this.#waiting = true;
    // What it has begun goes on once it has answered, as in njs.
    this.#r.onFinish(() => this.#code === undefined && !this.#complete && task.cancel());
    this.#limit(limit, task);
    return AGAIN;
  }

  /** How the task of a phase's function ends. */
  static readonly #phaseEnd = class implements TaskEnd {
    readonly #of: RequestObject;
    readonly #began: number;

    constructor(of: RequestObject) {
      this.#of = of;
      this.#began = of.#phase;
    }

    /** Another phase's function may run by now: what this one has decided took the request there. */
    get #over(): boolean {
      return this.#of.#phase !== this.#began;
    }

    settled(): void {
      if (!this.#over) {
        this.#of.#settle();
      }
    }

    failed(): void {
      if (!this.#over) {
        this.#of.#go(this.#of.#failure);
      }
    }

    decided(): boolean {
      return this.#over || this.#of.#code !== undefined;
    }
  };

  /** The phase's function is over. What functions of variables have begun may still answer. */
  #settle(): void {
    if (this.#background > 0) {
      this.#settled = true;
    } else {
      this.#go(this.#settledCode());
    }
  }

  /** Bounds the time in which the client hears nothing. */
  #limit({ name, timeout, timedOut }: WaitLimit, task: Task): void {
    if (timeout === 0) {
      return;
    }
    const r = this.#r;
    const expired = (): void => {
      if (this.#code === undefined && !r.finished) {
        r.log(ERROR, `js handler "${name}" timed out`);
        timedOut();
        task.cancel();
        this.#go(this.#failure);
      }
    };
    const deadline = new Deadline({ expired });
    this.#deadline = deadline;
    this.#timeout = timeout;
    deadline.set(performance.now(), timeout);
    r.onFinish(() => deadline.close());
  }

  /** The code when a function has failed: a response that is on its way breaks off. */
  get #failure(): Result {
    const r = this.#r;
    return r.headerSent && !r.postAction ? FAILED : 500;
  }

  /** The code when nothing is left to wait for. */
  #settledCode(): Result {
    if (this.#code !== undefined) {
      return DONE;
    }
    const target = this.#redirect;
    if (target !== undefined && this.#r.headGiven) {
      this.#r.log(WARN, 'ignored internalRedirect() because headers were already sent');
    } else if (target !== undefined) {
      if (target.startsWith('@')) {
        return namedLocation(this.#r, target);
      }
      const to = readUnsafeUri(this.#r, target);
      return to === undefined ? 500 : internalRedirect(this.#r, to.uri, to.args, 0);
    }
    if (this.stage === 'rewrite') {
      return DECLINED;
    }
    if (this.#declined) {
      // Another content handler has its turn.
      return DECLINED;
    }
    if (this.stage === 'access') {
      return OK;
    }
    if (this.#r.headGiven) {
      this.#source?.end(this.#r);
      if (!this.#r.postAction) {
        return DONE;
      }
      return target === undefined ? 500 : OK;
    }
    return 500;
  }

  /** The value that a function gives a variable; undefined after an exception, which is in the log. */
  value(run: (r: RequestObject) => unknown, name: string): string | undefined {
    const before = this.stage;
    const givenBefore = this.returnValue;
    this.stage = 'variable';
    let inside = true;
    const over = (): void => {
      this.#background--;
      if (this.#background === 0 && this.#settled && !inside) {
        this.#settled = false;
        this.#go(this.#settledCode());
      }
    };
    this.#background++;
    const value = variableValue(new Task(this.#owner, { settled: over, failed: over }), this, () => run(this), name);
    inside = false;
    this.stage = before;
    this.returnValue = givenBefore;
    return value;
  }

  /** What a function returns that chooses for the request, at once; undefined after an exception, which is in the log. */
  choose(run: ScriptFunction, choice: object, name: string): unknown {
    const before = this.stage;
    this.stage = 'variable';
    const chosen = chosenAtOnce(this.#owner, () => run(this, choice), name);
    this.stage = before;
    return chosen;
  }

  /** Lets a function look at the response's head. False after an exception, which is in the log. */
  filterHead(run: (r: RequestObject) => unknown): boolean {
    const before = this.stage;
    this.stage = 'headers';
    const done = this.#filter(() => run(this));
    this.stage = before;
    return done;
  }

  /** Lets a function see a piece of the response's body, and say what goes on. False after an exception, which is in the log. */
  filterBody(run: (r: RequestObject) => unknown, output: FilterOutput): boolean {
    const before = this.stage;
    const outputBefore = this.#output;
    this.stage = 'body';
    this.#output = output;
    const done = this.#filter(() => run(this));
    this.stage = before;
    this.#output = outputBefore;
    return done;
  }

  /** Runs a filter, which waits for nothing. False after an exception, which is in the log. */
  #filter(code: () => unknown): boolean {
    let done = true;
    new Task(this.#owner, { settled() {}, failed: () => (done = false) }, true).runAtOnce(code);
    return done;
  }

  /** Goes on with a code, at once or when the handler returns. */
  #go(code: Result): void {
    if (this.#code !== undefined) {
      return;
    }
    this.#code = code;
    this.#deadline?.clear();
    if (this.#waiting && !this.#r.finished) {
      this.#r.resume(code);
    }
  }

  /** The answer is on its way. In the access phase OK would let the request in. */
  #answered(code: Result): void {
    const ends = code === OK && this.stage === 'access';
    this.#go(ends ? DONE : code);
    if (ends) {
      this.#r.finalize(OK);
    }
  }

  /** Nobody reads a body that is not there when the answer begins: what comes of it is dropped. Returns OK or a status. */
  #dropBody(): Result {
    return this.stage === 'access' || this.stage === 'rewrite' ? discardBody(this.#r) : OK;
  }

  log(...values: unknown[]): void {
    say(this.#owner, INFO, values);
  }

  warn(...values: unknown[]): void {
    say(this.#owner, WARN, values);
  }

  error(...values: unknown[]): void {
    say(this.#owner, ERROR, values);
  }

  // --- the request

  get args(): object {
    this.#args ??= argsObject(this.#r.args);
    return this.#args;
  }

  get headersIn(): object {
    this.#headersIn ??= headersIn(this.#r);
    return this.#headersIn;
  }

  get rawHeadersIn(): readonly (readonly [string, string])[] {
    // Scripts go through it by number, and ask for it each time.
    this.#rawHeadersIn ??= pairs(this.#r.head.headers);
    return this.#rawHeadersIn;
  }

  get httpVersion(): string {
    return `${Math.floor(this.#r.httpVersion / 1000)}.${this.#r.httpVersion % 1000}`;
  }

  get internal(): boolean {
    return this.#r.internal;
  }

  get method(): string {
    return this.#r.method;
  }

  get uri(): string {
    return nativeText(this.#r.uri);
  }

  get requestLine(): string {
    return nativeText(this.#r.main.line);
  }

  get remoteAddress(): string {
    return this.#r.connection.remoteAddress;
  }

  /** The object of the request that this one is within, if a script has had to do with that. */
  get parent(): RequestObject | undefined {
    const { parent } = this.#r;
    return this.#parent ?? (parent === null ? undefined : states.get(parent));
  }

  get variables(): object {
    this.#variables ??= variablesOf(this.#r);
    return this.#variables;
  }

  get rawVariables(): object {
    this.#rawVariables ??= rawVariablesOf(this.#r);
    return this.#rawVariables;
  }

  /** The names of the variables of `js_var` that begin so. */
  jsVarNames(prefix?: unknown): string[] {
    return jsVariableNames(this.#r.http.variables, prefix);
  }

  /** What `njs.dump` and JSON show of it. */
  toJSON(): object {
    const {
      args,
      headersIn,
      headersOut,
      httpVersion,
      internal,
      method,
      remoteAddress,
      requestLine,
      requestText,
      responseText,
      status,
      uri,
    } = this;
    return {
      args: { ...args },
      headersIn: { ...headersIn },
      headersOut: { ...headersOut },
      httpVersion,
      internal,
      method,
      remoteAddress,
      requestLine,
      requestText,
      responseText,
      status,
      uri,
    };
  }

  [SHOWN](): object {
    return this.toJSON();
  }

  get [Symbol.toStringTag](): string {
    return 'Request';
  }

  // --- the request's body

  /** Undefined for a request without a body. Scripts may ask for it again and again. */
  get requestText(): string | undefined {
    const bytes = this.requestBuffer;
    if (bytes === undefined) {
      return undefined;
    }
    this.#bodyText ??= bytes.toString('utf8');
    return this.#bodyText;
  }

  get requestBody(): string | undefined {
    return this.requestText;
  }

  get requestBuffer(): Buffer | undefined {
    const { body } = this.#r;
    if (body === null || !body.complete || this.#r.discardingBody) {
      return undefined;
    }
    if (body !== this.#readBodyOf || body.length !== this.#readLength) {
      this.#readBodyOf = body;
      this.#readLength = body.length;
      this.#bodyText = undefined;
      this.#body = wholeBody(this.#r, body);
    }
    return this.#body?.length === 0 && !this.#saidEmpty ? undefined : this.#body;
  }

  /** The client has said that there is a body, though nothing stood in it. */
  get #saidEmpty(): boolean {
    const { main, body } = this.#r;
    return body === main.body && (main.chunkedIn || main.contentLength === 0);
  }

  readRequestText(): Promise<string> {
    return this.#readBody('text').then((body) => body.toString('utf8'));
  }

  readRequestArrayBuffer(): Promise<ArrayBuffer> {
    return this.#readBody('buffer').then((body) => body.buffer.slice(body.byteOffset, body.byteOffset + body.length) as ArrayBuffer);
  }

  readRequestJSON(): Promise<unknown> {
    return this.#readBody('text').then((body) => JSON.parse(body.toString('utf8')) as unknown);
  }

  readRequestForm(options?: FormOptions): Promise<Form> {
    const most = mostFields(options);
    this.#form ??= this.#readBody('form').then((body) => readForm(body, this.#r.head.header('content-type') ?? '', most));
    return this.#form;
  }

  #readBody(what: 'text' | 'buffer' | 'form'): Promise<Buffer> {
    const r = this.#r;
    if (this.stage === 'headers' || this.stage === 'body' || this.stage === 'variable') {
      return Promise.reject(new Error('the request body cannot be read in this handler'));
    }
    if (this.#reading !== undefined) {
      return Promise.reject(new TypeError('request body is already being read'));
    }
    const task = currentTask();
    task?.hold();
    this.#reading = what;
    return new Promise((done) => {
      readBody(r, () => {
        this.#reading = undefined;
        done(r.body === null ? Buffer.alloc(0) : wholeBody(r, r.body));
        setImmediate(() => task?.release());
      });
    });
  }

  // --- the response

  get status(): number {
    return this.#r.out.status;
  }

  set status(status: unknown) {
    setStatus(this.#r, status);
  }

  get headersOut(): object {
    this.#headersOut ??= headersOut(this.#r);
    return this.#headersOut;
  }

  get rawHeadersOut(): readonly (readonly [string, string])[] {
    const { list, lengthPlace, contentLength } = this.#r.out;
    return list.flatMap((header) => {
      if (header.name !== '') {
        return [[nativeText(header.name), nativeText(header.value)] as const];
      }
      return header === lengthPlace && contentLength !== -1 ? [['Content-Length', String(contentLength)] as const] : [];
    });
  }

  return(status: unknown, body?: unknown): void {
    const r = this.#r;
    const code = integer(status);
    if (code < 0 || code > 999) {
      throw new RangeError('code is out of range');
    }
    if (this.stage === 'headers' || this.stage === 'body' || this.stage === 'variable') {
      throw new TypeError('a response cannot be sent in this handler');
    }
    // Behind the response, what is returned is for the log alone.
    if (!r.postAction && (r.headGiven || (this.#code !== undefined && (this.#waiting || this.#complete)))) {
      // As in njs, for whom such a status is no response yet.
      if ((code < 400 || (body !== undefined && body !== null)) && (this.#complete || (r.headGiven && !r.finished))) {
        throw new InternalError('failed to send response');
      }
      return;
    }
    this.#takeBack();
    // The page of such a status drops the body itself, malformed or not.
    if (code >= 400 && (body === undefined || body === null)) {
      this.#go(asStatus(code));
      return;
    }
    const broken = this.#dropBody();
    if (broken !== OK) {
      this.#go(broken);
      return;
    }
    // What a script answers is not looked at for conditions of the client's.
    r.disableNotModified = true;
    const bytes = bufferOf(body);
    if (REDIRECTS.has(code)) {
      setRedirect(r, bytes.toString('latin1'));
      this.#go(asStatus(code));
      return;
    }
    setStatus(r, code);
    setContentType(r);
    this.#complete = true;
    this.#answered(respondBuffer(r, code, bytes));
  }

  /** As in njs, the last of several statuses counts while the function runs and nothing was sent. */
  #takeBack(): void {
    if (!this.#waiting && !this.#complete) {
      this.#code = undefined;
    }
  }

  sendHeader(): void {
    const r = this.#r;
    if (r.headGiven) {
      return;
    }
    if (this.#dropBody() !== OK) {
      throw new InternalError('failed to send header');
    }
    if (r.out.status === 0) {
      setStatus(r, 200);
    }
    setContentType(r);
    r.disableNotModified = true;
    const code = sendHeader(r);
    if (code === FAILED || code > OK) {
      throw new InternalError('failed to send header');
    }
    if (r.headerOnly) {
      return;
    }
    this.#source = new ScriptSource();
    sendBody(r, this.#source);
  }

  send(...data: unknown[]): void {
    if (this.#output !== undefined) {
      throw new TypeError('cannot send while in body filter');
    }
    if (!this.#r.headGiven) {
      throw new TypeError('cannot send while in handler');
    }
    this.#deadline?.set(performance.now(), this.#timeout);
    for (const piece of data) {
      this.#source?.write(this.#r, bufferOf(piece));
    }
  }

  sendBuffer(data: unknown, flags?: { readonly last?: unknown; readonly flush?: unknown } | null): void {
    if (this.#output === undefined) {
      throw new TypeError('cannot send buffer while not filtering');
    }
    const bytes = givenBuffer(data);
    if (bytes.length > 0) {
      this.#output.pieces.push(bytes);
    }
    this.#output.last ||= Boolean(flags?.last);
  }

  /** Takes the body filter out of the rest of the response. */
  done(): void {
    if (this.#output === undefined) {
      if (this.stage === 'headers') {
        return;
      }
      throw new TypeError('cannot set done while not filtering');
    }
    this.#output.done = true;
  }

  finish(): void {
    const r = this.#r;
    if (this.stage !== 'content' && this.stage !== 'access' && this.stage !== 'rewrite') {
      return;
    }
    if (!r.headGiven) {
      this.sendHeader();
    }
    this.#complete = true;
    if (r.headerOnly) {
      this.#answered(OK);
      return;
    }
    this.#source?.end(r);
    this.#go(DONE);
  }

  decline(): void {
    this.#declined = this.stage === 'access' || this.stage === 'content' || this.stage === 'rewrite';
  }

  internalRedirect(uri: unknown): void {
    if (this.#parent !== undefined || this.#r !== this.#r.main) {
      throw new TypeError('internalRedirect cannot be called from a subrequest');
    }
    if (this.stage === 'headers' || this.stage === 'body') {
      throw new TypeError('internalRedirect cannot be called while filtering');
    }
    const target = converted(uri, 'uri arg');
    if (target === '') {
      throw new TypeError('uri is empty');
    }
    this.#redirect = target;
    this.#takeBack();
  }

  /** In `js_rewrite`: another URI. No own property, as njs has no such function. */
  rewrite(path: unknown, options?: RewriteOptions): void {
    if (this.stage !== 'rewrite') {
      throw new TypeError('rewrite() is of js_rewrite');
    }
    rewriteUri(this.#r, converted(path, 'path'), options);
  }

  setReturnValue(value: unknown): void {
    this.returnValue = value;
  }

  // --- subrequests

  get responseText(): string | undefined {
    this.#text ??= this.#reply?.toString('utf8');
    return this.#text;
  }

  get responseBody(): string | undefined {
    return this.responseText;
  }

  get responseBuffer(): Buffer | undefined {
    return this.#reply;
  }

  subrequest(uri: unknown, ...rest: unknown[]): Promise<RequestObject> | undefined {
    const r = this.#r;
    if (this.#parent !== undefined || isInMemory(r)) {
      throw new TypeError('subrequest can only be created for the primary request');
    }
    const target = converted(uri, 'uri arg');
    if (target === '') {
      throw new TypeError('uri is empty');
    }
    const [first, second] = rest;
    const options = subrequestSettings(first);
    const given = converted(options.args, 'options.args');
    const method = options.method === undefined ? 'GET' : converted(options.method, 'options.method');
    const parsed = readUnsafeUri(r, target);
    if (parsed === undefined) {
      throw new TypeError('unsafe uri');
    }
    const callback = typeof first === 'function' ? first : second;
    if (callback !== undefined && typeof callback !== 'function') {
      throw new TypeError('callback is not a function');
    }
    const detached = Boolean(options.detached);
    if (detached && callback !== undefined) {
      throw new TypeError('detached flag and callback are mutually exclusive');
    }
    // As in njs, those of the URI count.
    const args = parsed.args === '' ? given : parsed.args;
    const body = options.body === undefined ? undefined : bufferOf(options.body);
    return this.#subrequest(parsed.uri, args, method, body, detached, callback as ((reply: RequestObject) => unknown) | undefined);
  }

  #subrequest(
    uri: string,
    args: string,
    method: string,
    body: Buffer | undefined,
    detached: boolean,
    callback: ((reply: RequestObject) => unknown) | undefined,
  ): Promise<RequestObject> | undefined {
    const r = this.#r;
    const task = currentTask();
    const sink = detached ? undefined : new MemorySink();
    let resolve: ((reply: RequestObject) => void) | undefined;
    const sr = startSubrequest(r, {
      uri,
      args,
      headerOnly: method === 'HEAD' || detached,
      background: detached,
      heedsClient: false,
      awaited: true,
      ...(sink === undefined ? {} : { sink }),
      end: (done) => {
        if (detached || task === undefined) {
          return;
        }
        if (states.get(r) !== this) {
          return;
        }
        const reply = requestObject(done);
        reply.#parent = this;
        reply.#reply = method === 'HEAD' ? undefined : Buffer.from(sink?.text ?? '', 'latin1');
        reply.stage = 'reply';
        if (callback !== undefined) {
          task.callback(() => callback(reply));
        } else {
          resolve?.(reply);
          setImmediate(() => task.release());
        }
      },
    });
    if (sr === undefined) {
      throw new InternalError('subrequest creation failed');
    }
    markScriptSubrequest(sr);
    sr.method = method;
    sr.methodBit = methodBit(method);
    if (body !== undefined) {
      const given = new RequestBody();
      given.bytes.add(body, 0, body.length);
      given.complete = true;
      sr.body = given;
      sr.discardingBody = false;
      sr.contentLength = body.length;
      sr.chunkedIn = false;
    }
    if (detached || task === undefined) {
      return undefined;
    }
    task.hold();
    if (this.stage === 'variable') {
      // Nothing waits for it once the request has been sent elsewhere.
      r.onFinish(() => states.get(r) !== this && r.log(ERROR, 'js subrequest: failed to get the parent context'));
    }
    return callback === undefined
      ? new Promise((done) => {
          resolve = done;
        })
      : undefined;
  }
}

/** A text that a handler gives. @throws TypeError for what cannot be one. */
function converted(value: unknown, what: string): string {
  try {
    return bytesOf(value);
  } catch {
    throw new TypeError(`failed to convert ${what}`);
  }
}

/** What the second argument of `r.subrequest` means. @throws TypeError for what means nothing. */
function subrequestSettings(given: unknown): SubrequestSettings {
  if (given === undefined || given === null || typeof given === 'function') {
    return {};
  }
  if (typeof given === 'object') {
    return given;
  }
  if (typeof given === 'string') {
    return { args: given };
  }
  throw new TypeError('failed to convert args');
}

const pairs = (list: readonly string[]): [string, string][] => {
  const result: [string, string][] = [];
  for (let i = 0; i < list.length; i += 2) {
    result.push([nativeText(list[i]!), nativeText(list[i + 1]!)]);
  }
  return result;
};

/** The whole of a body, from memory or from its file. */
function wholeBody(r: Request, body: RequestBody): Buffer {
  if (body.file !== undefined) {
    r.log(WARN, 'http js reading request body from a temporary file');
  }
  return body.whole();
}

/** What a script finds when it goes through the members of a request. */
const SHOWN_MEMBERS =
  'args decline done error finish headersIn headersOut httpVersion internal internalRedirect jsVarNames log method parent rawHeadersIn ' +
  'rawHeadersOut rawVariables readRequestArrayBuffer readRequestForm readRequestJSON readRequestText remoteAddress requestBuffer requestLine ' +
  'requestText responseBuffer responseText return send sendBuffer sendHeader setReturnValue status subrequest uri variables warn';
for (const name of SHOWN_MEMBERS.split(' ')) {
  const member = Object.getOwnPropertyDescriptor(RequestObject.prototype, name)!;
  Object.defineProperty(RequestObject.prototype, name, { ...member, enumerable: true });
}

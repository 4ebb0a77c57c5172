// The only file that names node:http, since the objects that applications extend have to be of its classes. Nothing of its parsers and
// connections is used.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What an application gets as a request. */
export type NodeRequest = IncomingMessage;
/** What an application gets as a response. */
export type NodeResponse = ServerResponse;

interface NodeHttp {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
  /** The method of {@link ServerResponse}, whatever an application puts in its place. */
  readonly writeHead: (this: ServerResponse, status: number, text?: string) => ServerResponse;
}

let loaded: NodeHttp | undefined;

/** Node's classes, which are loaded where an application wants them: they take 3 milliseconds of a start. */
export function nodeHttp(): NodeHttp {
  if (loaded === undefined) {
    const http = process.getBuiltinModule('node:http');
    loaded = {
      IncomingMessage: http.IncomingMessage,
      ServerResponse: http.ServerResponse,
      writeHead: http.ServerResponse.prototype.writeHead as NodeHttp['writeHead'],
    };
  }
  return loaded;
}

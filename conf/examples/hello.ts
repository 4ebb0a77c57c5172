import type { IncomingMessage, ServerResponse } from 'http';
import type { HttpRequest } from 'sluice/types';

export default {
  njs: (r: HttpRequest) => r.return(200, `hello ${r.args.name}\n`),
  web: (request: Request) => new Response(`hello ${new URL(request.url).searchParams.get('name')}\n`),
  node: (req: IncomingMessage, res: ServerResponse) => res.end(`hello ${req.url}\n`),
};

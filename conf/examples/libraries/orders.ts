import { Ajv } from 'ajv';
import type { HttpRequest } from 'sluice/types';
import { z } from 'zod';

const valid = new Ajv({ allErrors: true }).compile({
  type: 'object',
  required: ['item', 'count'],
  additionalProperties: false,
  properties: { item: { type: 'string', minLength: 1 }, count: { type: 'integer', minimum: 1, maximum: 99 } },
});

/** Tells a client what is wrong with its order before a backend sees it. */
function checked(r: HttpRequest): void {
  let order: unknown;
  try {
    order = JSON.parse(r.requestText ?? '');
  } catch {
    return r.return(400, 'no JSON\n');
  }
  if (valid(order)) {
    return r.internalRedirect('@orders');
  }
  r.return(422, `${valid.errors!.map(({ instancePath, message }) => `${instancePath || 'the order'} ${message}`).join('\n')}\n`);
}

const Query = z.object({ page: z.coerce.number().int().min(1).default(1), sort: z.enum(['name', 'date']).default('name') });

/** The same with zod, which gives what it has checked a type. */
function listed(r: HttpRequest): void {
  const query = Query.safeParse(r.args);
  if (!query.success) {
    return r.return(400, `${z.prettifyError(query.error)}\n`);
  }
  r.return(200, `page ${query.data.page} by ${query.data.sort}\n`);
}

export default { checked, listed };

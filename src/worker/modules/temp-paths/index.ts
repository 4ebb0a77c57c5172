import { In } from '../../../shared/config/context.js';
import type { Directive } from '../../../shared/config/define.js';
import type { Request } from '../../http/request.js';
import { parseTempPath } from '../../http/temp-path.js';
import { defineModule, defineScope } from '../../module.js';

const row: Directive<object, Request> = {
  in: In.HTTP | In.SERVER | In.LOCATION,
  args: [1, 2, 3, 4],
  set: (_conf, _node, ctx) => ctx.folder(parseTempPath(ctx).path),
};

/** Folders for temporary files of protocols whose modules do not exist yet. */
export const tempPathsModule = defineModule({
  name: 'temp_paths',
  location: defineScope<object>({
    fields: {},
    directives: { uwsgi_temp_path: row, scgi_temp_path: row },
  }),
});

import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag, oneOf } from '../../../shared/config/slots.js';
import { defineModule, defineScope } from '../../module.js';
import { type AutoindexSettings, listFolder } from './handler.js';

const HTTP_SERVER_LOCATION = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<AutoindexSettings>({
  fields: {
    enabled: inherit(false),
    format: inherit<AutoindexSettings['format']>('html'),
    localtime: inherit(false),
    exactSize: inherit(true),
  },
  directives: {
    autoindex: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('enabled') },
    autoindex_format: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set: oneOf('format', { html: 'html', json: 'json', jsonp: 'jsonp', xml: 'xml' } as const),
    },
    autoindex_localtime: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('localtime') },
    autoindex_exact_size: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('exactSize') },
  },
});

/** Lists folders that have no index file. nginx: ngx_http_autoindex_module. */
export const autoindexModule = defineModule({
  name: 'autoindex',
  location: scope,
  phases: { content: (conf) => (conf.enabled ? listFolder(conf) : undefined) },
});

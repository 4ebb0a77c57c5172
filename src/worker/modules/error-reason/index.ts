import { defineModule, defineScope } from '../../module.js';

const NAME = 'error_reason';

/** `$error_reason`, ours: why the server itself answered with an error. Requests note it only where the configuration names it. */
export const errorReasonModule = defineModule({
  name: NAME,
  main: defineScope({ fields: {}, directives: {} }),
  variables: [{ name: NAME, cacheable: false, get: (r) => r.main.reason || undefined }],
  installMain(_conf, http) {
    http.explains = http.variables.used(NAME);
  },
});

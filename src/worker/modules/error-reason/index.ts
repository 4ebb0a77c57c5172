import { escapeJson } from '../../../shared/log/escape.js';
import { defineModule, defineScope } from '../../module.js';

const NAME = 'error_reason';
/** The name of the variable with the reason as it stands between the quotes of a JSON text. */
const JSON_NAME = 'error_reason_json';

/**
 * `$error_reason` and `$error_reason_json`, ours: why the server itself answered with an error. Requests note it only where the
 * configuration names it.
 */
export const errorReasonModule = defineModule({
  name: NAME,
  main: defineScope({ fields: {}, directives: {} }),
  variables: [
    { name: NAME, cacheable: false, get: (r) => r.main.reason || undefined },
    { name: JSON_NAME, cacheable: false, get: (r) => escapeJson(r.main.reason) || undefined },
  ],
  installMain(_conf, http) {
    http.explains = http.variables.used(NAME) || http.variables.used(JSON_NAME);
  },
});

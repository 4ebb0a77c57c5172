/** What two readers say of a configuration; the empty text accepts it. */
export interface Verdicts {
  readonly ours: string;
  readonly theirs: string;
}

/** A difference between messages that is meant. */
export interface ConfigRule {
  readonly name: string;
  /** Words of docs/compatibility.md that tell of it, or why both are right. */
  readonly told?: string;
  readonly why?: string;
  readonly when: (verdicts: Verdicts, page: string) => boolean;
}

const unknown = (message: string): string | undefined => /^unknown directive "([^"]+)"/.exec(message)?.[1];

/** Whether a page has a name as the first word of a piece of code. */
const names = (page: string, name: string): boolean => page.includes(`\`${name}\``) || page.includes(`\`${name} `);

export const configRules: readonly ConfigRule[] = [
  {
    name: 'a module of JavaScript that is no file .js',
    why: 'sluice takes packages and files of other endings for modules, and looks at their names',
    when: ({ ours, theirs }) => theirs.startsWith('cannot extract export name from file path') && !ours.startsWith('cannot extract'),
  },
  {
    name: 'a directive that is not there',
    told: '## What is not there',
    when: ({ ours }, page) => {
      const name = unknown(ours);
      return name !== undefined && names(page.slice(page.indexOf('## What is not there')), name);
    },
  },
  {
    name: 'a directive of the mail proxy outside of it',
    told: 'the mail proxy',
    when: ({ ours, theirs }) => {
      const name = unknown(ours);
      return name !== undefined && theirs.startsWith(`"${name}" directive is not allowed here`);
    },
  },
  {
    name: 'variables of a module that nothing uses',
    told: 'as in an nginx without its GeoIP module',
    when: ({ ours, theirs }) => /^the duplicate "geoip_\w+" variable/.test(theirs) && !ours.startsWith('the duplicate "geoip_'),
  },
  {
    name: 'a directive that sluice adds',
    told: '## What sluice adds',
    when: ({ theirs }, page) => {
      const name = unknown(theirs);
      return name !== undefined && names(page, name);
    },
  },
  {
    name: 'a parameter that sluice adds',
    told: '## What sluice adds',
    when: ({ theirs }, page) => {
      const name = /^(?:invalid parameter|host not found in resolver) "(\w+=)/.exec(theirs)?.[1];
      return name !== undefined && page.slice(page.indexOf('## What sluice adds')).includes(name);
    },
  },
  {
    name: 'a zone that machines share',
    told: '## What sluice adds',
    when: ({ ours, theirs }) => {
      const directive = /^invalid number of arguments in "(limit_(?:req|conn)_zone)"/.exec(theirs)?.[0];
      return directive !== undefined && !ours.startsWith(directive);
    },
  },
  {
    name: 'sizes of hash tables',
    told: 'the hash tables of sluice size themselves',
    when: ({ theirs }) => /^could not build \w+, you should increase/.test(theirs),
  },
  {
    name: 'a zone of no size',
    why: 'nginx says so when it makes the zones, after it has read all',
    when: ({ ours, theirs }) => /^zero size shared memory zone/.test(ours) && theirs === '',
  },
  {
    name: 'a file that includes itself',
    why: 'sluice finds that before it asks where directives may stand',
    when: ({ ours }) => /^endless include of /.test(ours),
  },
  {
    name: 'sluice says where',
    why: 'a message of nginx without a place',
    when: ({ ours, theirs }) => theirs !== '' && ours.startsWith(`${theirs} in FILE:`),
  },
  {
    name: 'a group that the API may fill',
    why: 'whether a group with a zone gets servers by the API is known once all has been read; nginx asks at its end',
    when: ({ ours, theirs }) => ours !== '' && theirs.startsWith('no servers are inside upstream in '),
  },
  {
    name: 'a second block of http or stream',
    why: 'nginx finishes the first one before it reads the second',
    when: ({ ours }) => /^"(http|stream)" directive is duplicate in /.test(ours),
  },
  {
    name: 'a name with neither port nor address',
    why: 'both are wrong with it',
    when: ({ ours, theirs }) => ours.startsWith('no port in upstream ') && theirs === ours.replace('no port in', 'host not found in'),
  },
  {
    name: 'a module of JavaScript that cannot be loaded',
    told: "The directives of nginx's module njs, on V8",
    when: ({ ours }) => ours.startsWith('js_import: '),
  },
  {
    name: 'a log of JSON',
    told: '`error_log FILE LEVEL json`',
    when: ({ theirs }) => /^invalid log level "json"/.test(theirs),
  },
  {
    name: 'handlers that are not njs',
    told: '`js_content` with `fetch`',
    when: ({ ours, theirs }) => /^unknown parameter /.test(ours) && /^invalid number of arguments in "js_content"/.test(theirs),
  },
];

// The cost of finding the location of a URI among ten and among five thousand, in microseconds of CPU time: node
// scripts/bench/micro/location.mjs
import { bundleSources } from '../bundle.mjs';
import { measure } from './timing.mjs';

const { LocationTree, findConfig, compileRegex, bindRegex, VariableTable } = await import(
  await bundleSources(
    'location',
    `export { LocationTree } from './worker/http/request/location-tree.js';
export { findConfig } from './worker/http/request/find-config.js';
export { compileRegex } from './shared/regex/compile.js';
export { bindRegex } from './shared/value/regex-value.js';
export { VariableTable } from './shared/value/variables.js';`,
  )
);

const table = new VariableTable();
const settings = { internal: false, alias: 0, clientMaxBodySize: 0 };
const make = (info) => ({
  info: { autoRedirect: false, ...info },
  settings,
  limitExcept: undefined,
  handler: undefined,
  children: undefined,
});
const regex = (pattern) =>
  make({ kind: 'regex', name: pattern, regex: bindRegex(compileRegex(pattern, { caseless: false }), table, pattern) });

/** So many locations of a kind, and the URI that the n-th of them answers. */
const kinds = {
  exact: { location: (n) => make({ kind: 'exact', name: `/folder${n}/page.html` }), uri: (n) => `/folder${n}/page.html` },
  prefix: { location: (n) => make({ kind: 'prefix', name: `/folder${n}/part/` }), uri: (n) => `/folder${n}/part/some/page.html` },
  'the prefix / among': { location: (n) => make({ kind: 'prefix', name: `/folder${n}/part/` }), uri: (n) => `/folder${n}/other/page.html` },
  regex: {
    location: (n) => regex(`^/folder${n}/(.+)\\.php$`),
    uri: (n) => `/folder${n}/part/index.php`,
    calls: (size) => 2_000_000 / size,
  },
};

for (const [kind, { location, uri, calls = () => 200_000 }] of Object.entries(kinds)) {
  for (const size of [10, 5000]) {
    const tree = new LocationTree([make({ kind: 'prefix', name: '/' }), ...Array.from({ length: size }, (_, n) => location(n))]);
    const count = calls(size);
    let uris = [];
    const r = {
      main: undefined,
      server: { locations: tree },
      uri: '',
      args: '',
      vars: [],
      captures: null,
      internal: false,
      debugging: false,
      trace: null,
      contentLength: -1,
      matchSteps: 500_000,
      location: undefined,
      contentHandler: undefined,
      uriChanged: false,
    };
    const wanted = tree.prefix('/');
    measure(
      `${kind}, ${size}`,
      count,
      (i) => {
        r.uri = uris[i];
        if (!findConfig(r)) {
          throw new Error(`no location for ${r.uri}`);
        }
      },
      {
        prepare: () => {
          uris = Array.from({ length: count }, (_, i) => Buffer.from(uri((i * 7919) % size), 'latin1').latin1Slice());
        },
      },
    );
    if ((r.location === wanted) !== kind.startsWith('the prefix')) {
      throw new Error(`${kind}: ${/** @type {any} */ (r.location)?.info.name} answered ${r.uri}`);
    }
  }
}

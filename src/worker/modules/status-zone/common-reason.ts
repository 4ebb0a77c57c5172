/** What the quotes behind these words hold stands in the configuration. */
const OF_CONFIGURATION = ['rule ', 'zone ', 'location '];

/** So much of a reason is kept. */
const LONGEST = 200;

/**
 * A reason without what clients and backends sent, and without what differs from request to request: there would be no end of reasons,
 * and pages that show them would show anybody's text. What is quoted begins with the first quotation mark that is not the
 * configuration's; it may have such marks inside, so all goes up to the last one.
 */
export function commonReason(reason: string): string {
  const begin = foreignQuote(reason);
  const end = reason.lastIndexOf('"');
  const rest = begin === -1 ? reason : `${reason.slice(0, begin)}"..."${end > begin ? reason.slice(end + 1) : ''}`;
  return rest
    .slice(0, LONGEST)
    .replace(/, excess: [\d.]+/, '')
    .replace(/: \d+(?:\+\d+)? bytes/, '')
    .replace(/only \d+ out of \d+ bytes/, 'only a part')
    .replace(/(^|: )\S+ could not be resolved/, '$1a name could not be resolved')
    .replace(/no resolver defined to resolve \S+/, 'no resolver defined to resolve a name')
    .replace(/[^\x20-\x7e]/g, '?');
}

function foreignQuote(reason: string): number {
  let at = reason.indexOf('"');
  while (at !== -1 && OF_CONFIGURATION.some((word) => reason.endsWith(word, at))) {
    // The mark that ends it is the configuration's, too.
    const end = reason.indexOf('"', at + 1);
    at = end === -1 ? -1 : reason.indexOf('"', end + 1);
  }
  return at;
}

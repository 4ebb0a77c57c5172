/** The urgency of a stream that says nothing: 0 is the most urgent, 7 the least (RFC 9218, 4.1). */
export const DEFAULT_URGENCY = 3;

/** What a client says of a response: how urgent it is, and whether parts of it are of use (RFC 9218, 4). */
export interface Priority {
  readonly urgency: number;
  readonly incremental: boolean;
}

const PARAMETER = /(?:^|,)[ \t]*([a-z*][a-z0-9_\-.*]*)(?:=([^,;]*))?[^,]*/g;

/** Reads a `priority` field. What is not understood is as if it were not there; the last of several parameters of one name counts. */
export function parsePriority(text: string): Priority {
  let urgency = DEFAULT_URGENCY;
  let incremental = false;
  for (const [, name, value] of text.matchAll(PARAMETER)) {
    const said = value?.trim();
    if (name === 'u' && said !== undefined && /^[0-7]$/.test(said)) {
      urgency = Number(said);
    } else if (name === 'i' && (said === undefined || said === '?1' || said === '?0')) {
      incremental = said !== '?0';
    }
  }
  return { urgency, incremental };
}

/** The state of whoever a function runs for, which ends with it; a redirect within the server gives a request another. */
export const stateOf = (subject: object): object => (subject as { readonly ctx?: object | null }).ctx ?? subject;

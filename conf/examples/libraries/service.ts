import * as client from 'openid-client';
import type { HttpRequest } from 'sluice/types';

let config: Promise<client.Configuration> | undefined;
let token: { readonly text: string; readonly until: number } | undefined;

/** A token of this server's own for a backend, asked for again half a minute before it expires. */
async function own(): Promise<string> {
  if (token === undefined || Date.now() > token.until) {
    config ??= client.discovery(new URL(process.env.ISSUER!), process.env.CLIENT_ID!, process.env.CLIENT_SECRET).catch((error) => {
      config = undefined;
      throw error;
    });
    const answer = await client.clientCredentialsGrant(await config, {});
    token = { text: answer.access_token, until: Date.now() + ((answer.expires_in ?? 60) - 30) * 1000 };
  }
  return token.text;
}

/** For `js_access`, which waits for it; `proxy_set_header Authorization "Bearer $token";` sends it. */
async function login(r: HttpRequest): Promise<void> {
  r.variables.token = await own();
}

export default { login };

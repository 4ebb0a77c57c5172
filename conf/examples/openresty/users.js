/** Whose token it is, as another service says; undefined for nobody's. */
async function ask(token) {
  const reply = await ngx.fetch('http://127.0.0.1:3000/whoami', { headers: { Authorization: token } });
  if (reply.status !== 200) {
    return undefined;
  }
  const user = (await reply.text()).trim();
  ngx.shared.users.set(token, user);
  return user;
}

async function check(r) {
  const token = r.headersIn.Authorization;
  if (token === undefined) {
    r.return(401);
    return;
  }
  const user = ngx.shared.users.get(token) ?? (await ask(token));
  if (user === undefined) {
    r.return(403);
    return;
  }
  r.variables.user = user;
}

export default { check };

/** The requests of a user go to one server; after a failure, to the one behind it. Others are the group's own method's. */
function choose(r, { peers, failures }) {
  const user = r.variables.cookie_user;
  if (!user) {
    return undefined;
  }
  let hash = 0;
  for (const letter of user) {
    hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  }
  return (hash + failures.length) % peers.length;
}

export default { choose };

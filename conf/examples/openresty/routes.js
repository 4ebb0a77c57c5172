const moved = new Map([['/old', '/new']]);

/** Moves old addresses, and sends /@ada/notes to /tenants/ada/notes. */
function choose(r) {
  const to = moved.get(r.uri);
  const tenant = /^\/@([a-z]+)(\/.*)?$/.exec(r.uri);
  if (to !== undefined) {
    r.return(301, to);
  } else if (tenant !== null) {
    r.rewrite(`/tenants/${tenant[1]}${tenant[2] ?? '/'}`);
  }
}

export default { choose };

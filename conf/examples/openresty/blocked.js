let blocked = new Set();

async function load() {
  const reply = await ngx.fetch('http://127.0.0.1:3000/blocked');
  if (reply.status !== 200) {
    throw new Error(`the list of blocked keys: ${reply.status}`);
  }
  blocked = new Set((await reply.text()).split('\n'));
}

function check(r) {
  if (blocked.has(r.headersIn['X-Api-Key'])) {
    r.return(403);
  }
}

export default { load, check };

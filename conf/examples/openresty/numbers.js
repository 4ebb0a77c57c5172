/** A small server of numbers by key, with a command a line. */
async function serve(s) {
  for (let line = await s.readLine(200); line !== null; line = await s.readLine(200)) {
    const [command, key] = line.split(' ');
    if (command === 'QUIT') {
      return;
    }
    await s.write(command === 'INCR' && key ? `${ngx.shared.numbers.incr(key, 1, 0)}\n` : 'unknown command\n');
  }
}

export default { serve };

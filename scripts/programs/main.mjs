// Runs each program of the table on both servers and compares what they answer (scripts/compare-programs).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { rows } from './rows.mjs';

const [checkouts, nginx, ...others] = process.argv.slice(2);
const parts = others.filter((part) => part !== '--record');
const here = import.meta.dirname;
const recordedFile = join(here, 'recorded.json');
/** Digests of nginx's answers, by program, and the commits whose programs they are of. */
const recorded = existsSync(recordedFile) ? JSON.parse(readFileSync(recordedFile, 'utf8')) : { commits: {}, answers: {} };
const byRecord = nginx === 'recorded';
const recording = others.includes('--record');
const folder = mkdtempSync(join(tmpdir(), 'programs-'));

/** What a server answers to a row's requests, or why there are no answers. */
function answersOf(row, server) {
  const job = join(folder, 'job.json');
  const out = join(folder, 'answers.json');
  rmSync(out, { force: true });
  writeFileSync(job, JSON.stringify({ row, server, checkouts: resolve(checkouts), out }));
  const ran = spawnSync('unshare', ['-mnpf', '--mount-proc', process.execPath, join(here, 'run-one.mjs'), job], {
    encoding: 'utf8',
    timeout: 180_000,
  });
  if (!existsSync(out)) {
    return { failed: (ran.stderr + ran.stdout).trim().slice(-1500) || `no answers, code ${ran.status}` };
  }
  return JSON.parse(readFileSync(out, 'utf8'));
}

const servers = {
  nginx: { command: [resolve(nginx)] },
  sluice: { command: [process.execPath, resolve(here, '../../dist/sluice.js')], main: 'nginx_compatibility on;\n' },
};
let same = 0;
let different = 0;
let neither = 0;
let requests = 0;
for (const row of rows) {
  if (parts.length > 0 && !parts.some((part) => row.name.includes(part))) {
    continue;
  }
  if (byRecord) {
    compareWithRecord(row);
    continue;
  }
  const [theirs, ours] = [answersOf(row, servers.nginx), answersOf(row, servers.sluice)];
  if (theirs.failed !== undefined && ours.failed !== undefined) {
    neither += 1;
    console.log(`neither   ${row.name}: ${reason(theirs.failed)} | ${reason(ours.failed)}`);
    continue;
  }
  const lines =
    (theirs.failed ?? ours.failed) ? [`nginx: ${theirs.failed ?? 'runs'}`, `sluice: ${ours.failed ?? 'runs'}`] : differences(theirs, ours);
  requests += theirs.answers?.length ?? 0;
  if (lines.length === 0) {
    same += 1;
    if (recording) {
      recorded.answers[row.name] = digestsOf(theirs);
    }
    console.log(`same      ${row.name} (${theirs.answers.length} requests)`);
  } else {
    different += 1;
    console.log(`DIFFERENT ${row.name}\n    ${lines.join('\n').replaceAll('\n', '\n    ')}`);
  }
}
if (recording) {
  writeFileSync(recordedFile, `${JSON.stringify(recorded, undefined, 2)}\n`);
}
console.log(`${same} programs the same, ${different} different, ${neither} that run on neither; ${requests} requests`);
rmSync(folder, { recursive: true, force: true });
process.exitCode = different === 0 ? 0 : 1;

/** What nginx answered is compared by digests: nothing of the programs is kept. */
function digestsOf({ answers }) {
  return answers.map(({ answer }) => createHash('sha256').update(JSON.stringify(answer)).digest('base64url').slice(0, 12));
}

function compareWithRecord(row) {
  const expected = recorded.answers[row.name];
  if (expected === undefined || !existsSync(join(checkouts, row.repository.replace('/', '_')))) {
    return;
  }
  const ours = answersOf(row, servers.sluice);
  const digests = ours.failed === undefined ? digestsOf(ours) : [];
  requests += digests.length;
  const wrong = expected.flatMap((digest, index) => (digest === digests[index] ? [] : [index]));
  if (wrong.length === 0) {
    same += 1;
    console.log(`same      ${row.name} (${digests.length} requests)`);
  } else {
    different += 1;
    const lines = wrong.map((index) =>
      ours.failed === undefined ? `${ours.answers[index].request}: ${short(ours.answers[index].answer)}` : '',
    );
    console.log(`DIFFERENT ${row.name}\n    ${ours.failed ?? ''}${lines.join('\n    ')}\n    ${ours.log ?? ''}`);
  }
}

/** The line that says most. */
function reason(text) {
  const lines = text.split('\n');
  return (lines.find((line) => /\[emerg\]/.test(line)) ?? lines.find((line) => /Error/.test(line)) ?? lines[0]).slice(0, 300);
}

function differences(theirs, ours) {
  const lines = [];
  for (const [index, answer] of theirs.answers.entries()) {
    if (JSON.stringify(answer.answer) !== JSON.stringify(ours.answers[index].answer)) {
      lines.push(`${answer.request}\n  nginx:  ${short(answer.answer)}\n  sluice: ${short(ours.answers[index].answer)}`);
    }
  }
  if (lines.length > 0) {
    lines.push(`nginx's log:\n${theirs.log}`, `sluice's log:\n${ours.log}`);
  }
  return lines;
}

function short(answer) {
  const text = JSON.stringify(answer);
  return text.length > 1200 ? `${text.slice(0, 1200)}...` : text;
}

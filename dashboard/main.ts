import { Chart } from './charts.js';
import { ConfigurationView } from './configuration.js';
import { el, filterTables, section, setText } from './dom.js';
import { fleetPart } from './fleet-section.js';
import { Live } from './live.js';
import { LogView } from './log-view.js';
import { bytes, count, rate, span, time } from './numbers.js';
import { statePart, tilesPart } from './overview.js';
import { currentRoute, Places, type Route, shown } from './routes.js';
import {
  type Ask,
  cachesPart,
  limitsPart,
  reasonsPart,
  resolversPart,
  sharedZonesPart,
  tlsPart,
  upstreamsPart,
  workersPart,
  zonesPart,
} from './sections.js';
import { keyvalsPart, streamServersPart, streamUpstreamsPart } from './stream-sections.js';
import type { Configuration, Series, State } from './types.js';

const EVERY = 2000;
/** Seconds that the charts of what the page has seen are long, at most and at least. */
const SEEN = 300;
const LEAST_SEEN = 60;
/** The charts of the past are asked for anew after so many states. */
const HISTORY_EVERY = 5;
const RANGES = [
  ['live', '5 min', 0],
  ['hour', '1 h', 3600],
  ['hours', '6 h', 21_600],
  ['day', '24 h', 86_400],
] as const;

const byId = (id: string): HTMLElement => document.getElementById(id)!;
const main = byId('main');
const live = new Live();
let range = 0;
let paused = false;
let asked = 0;
let latest: State | undefined;

// ---------------------------------------------------------------- changes

const dialog = byId('confirm') as HTMLDialogElement;
let toastTimer = 0;

function toast(text: string): void {
  const place = byId('toast');
  place.textContent = text;
  place.classList.add('shown');
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => place.classList.remove('shown'), 5000);
}

const ask: Ask = ({ title, text, yes, change }) => {
  setText(byId('confirm-title'), title);
  setText(byId('confirm-text'), text);
  setText(byId('confirm-yes'), yes);
  dialog.returnValue = '';
  dialog.onclose = () => {
    if (dialog.returnValue === 'yes') {
      void send(change);
    }
  };
  dialog.showModal();
};

async function send(change: object): Promise<void> {
  try {
    const headers = { 'Content-Type': 'application/json', 'X-Sluice-Dashboard': '1' };
    const answer = await fetch('change', { method: 'POST', headers, body: JSON.stringify(change) });
    toast(answer.ok ? ((await answer.json()) as { text: string }).text : `The server refused: ${answer.status}`);
  } catch {
    toast('The server does not answer');
  }
  await refresh();
}

// ---------------------------------------------------------------- the page

const parts = [
  statePart(),
  tilesPart(),
  fleetPart(),
  zonesPart('servers'),
  upstreamsPart(ask),
  zonesPart('locations'),
  streamServersPart(),
  streamUpstreamsPart(ask),
  reasonsPart(),
  cachesPart(ask),
  limitsPart(),
  sharedZonesPart(),
  keyvalsPart(),
  tlsPart(),
  workersPart(),
  resolversPart(),
];

const perSecond = (n: number): string => `${rate(n)}/s`;
const traffic = (n: number): string => `${bytes(n)}/s`;
const duration = (ms: number): string => (ms === 0 ? '0 ms' : time(ms));

const charts = {
  classes: new Chart(
    'Responses a second',
    [
      { name: '2xx', colour: '--c2' },
      { name: '3xx', colour: '--c3' },
      { name: '4xx', colour: '--c4' },
      { name: '5xx', colour: '--c5' },
    ],
    perSecond,
    true,
  ),
  times: new Chart(
    'Response time',
    [
      { name: 'p50', colour: '--q50' },
      { name: 'p95', colour: '--q95' },
      { name: 'p99', colour: '--q99' },
    ],
    duration,
    false,
  ),
  connections: new Chart(
    'Connections',
    [
      { name: 'active', colour: '--q95' },
      { name: 'idle', colour: '--q50' },
    ],
    count,
    true,
    true,
  ),
  traffic: new Chart(
    'Traffic',
    [
      { name: 'sent', colour: '--q95' },
      { name: 'received', colour: '--q50' },
    ],
    traffic,
    false,
  ),
};

const titles = { classes: 'Responses', times: 'Response time', connections: 'Connections', traffic: 'Traffic' } as const;
const overview = el('div', { class: 'view' });
const configurationView = new ConfigurationView();
const logView = new LogView();
main.append(overview, configurationView.root, logView.root);
overview.append(parts[0]!.root, parts[1]!.root);
for (const name of ['classes', 'times', 'connections', 'traffic'] as const) {
  const { root, body } = section(`chart-${name}`, titles[name], 'half');
  body.append(charts[name].root);
  overview.append(root);
}
overview.append(...parts.slice(2).map(({ root }) => root));

/** Shows what the page has seen itself, or the past: in charts whose axes are as long as the range that was chosen, and in all figures. */
function show(series: Series): void {
  live.shown = series;
  live.past = series.past;
  const to = Math.max(series.at.at(-1) ?? 0, Date.now() / 1000 - series.step);
  const seen = Math.min(SEEN, Math.max(LEAST_SEEN, to - (series.at[0] ?? to)));
  const span = [to - (range === 0 ? seen : range), to] as const;
  charts.classes.update(series.at, series.classes.slice(1, 5), span);
  charts.times.update(series.at, series.quantiles, span);
  charts.connections.update(series.at, series.connections, span);
  charts.traffic.update(series.at, [series.sent, series.received], span);
}

function updateParts(state: State): void {
  latest = state;
  for (const part of parts) {
    part.update(state, live);
  }
}

// ---------------------------------------------------------------- numbers

async function refresh(): Promise<void> {
  let state: State;
  try {
    const answer = await fetch('state', { cache: 'no-store' });
    if (!answer.ok) {
      throw new Error(String(answer.status));
    }
    state = await answer.json();
  } catch {
    const place = byId('state');
    place.className = 'bad';
    setText(byId('state-title'), 'The server does not answer');
    return;
  }
  live.add(state);
  setText(
    byId('about'),
    `${state.version} · up to date ${new Date(state.now).toLocaleTimeString('en-GB')} · loaded ${span(state.now - state.service.loadedAt)} ago`,
  );
  byId('views').hidden = !state.config;
  byId('ranges').hidden = !state.history || route.view !== 'now';
  if (state.config && (state.service.generation !== loaded || state.service.refusedAt !== refusedAt)) {
    await refreshConfiguration(state);
  }
  if (state.config && route.view === 'log') {
    await refreshLog();
  }
  if (range === 0) {
    show(live.series);
  } else if (asked++ % HISTORY_EVERY === 0) {
    await refreshHistory();
  }
  updateParts(state);
}

/** The configuration is asked for once, and again after each reload, however it went. */
async function refreshConfiguration({ service, now }: State): Promise<void> {
  const answer = await fetch('configuration', { cache: 'no-store' });
  if (!answer.ok) {
    return;
  }
  const configuration: Configuration = await answer.json();
  [loaded, refusedAt] = [service.generation, service.refusedAt];
  shown.places = new Places(configuration);
  configurationView.update(configuration, now);
  if (route.view === 'configuration') {
    configurationView.lead(route.what);
  }
}

async function refreshLog(): Promise<void> {
  await logView.refresh();
  logView.show(find.value, failed.checked);
}

async function refreshHistory(): Promise<void> {
  const wanted = range;
  const answer = await fetch(`history?range=${wanted}`, { cache: 'no-store' });
  const series: Series | null = answer.ok ? await answer.json() : null;
  if (series !== null && wanted === range) {
    show(series);
  }
}

async function run(): Promise<void> {
  if (!paused && !document.hidden) {
    await refresh();
  }
  setTimeout(run, EVERY);
}

// ---------------------------------------------------------------- views

let route: Route = { view: 'now', what: '' };
let loaded = 0;
let refusedAt = 0;

/** Shows the view that the address names, and leads to what it asks for. */
function follow(): void {
  const before = route.view;
  route = currentRoute();
  overview.hidden = route.view !== 'now';
  configurationView.root.hidden = route.view !== 'configuration';
  logView.root.hidden = route.view !== 'log';
  byId('ranges').hidden = latest?.history !== true || route.view !== 'now';
  for (const link of byId('views').querySelectorAll('a')) {
    if (link.dataset['view'] === route.view) {
      link.setAttribute('aria-current', 'page');
    } else {
      link.removeAttribute('aria-current');
    }
  }
  if (route.view === 'configuration') {
    configurationView.lead(route.what);
  } else if (route.view === 'log') {
    find.value = route.what;
    filterTables(find.value, failed.checked);
    void refreshLog();
  } else {
    if (before === 'log') {
      find.value = '';
      filterTables('', failed.checked);
    }
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }
  if (before !== route.view && route.what === '') {
    scrollTo(0, 0);
  }
}

// ---------------------------------------------------------------- controls

for (const [id, label, seconds] of RANGES) {
  const input = el('input', { type: 'radio', name: 'range', id: `range-${id}`, ...(seconds === 0 ? { checked: '' } : {}) });
  input.addEventListener('change', () => {
    range = seconds;
    asked = 0;
    void (range === 0 ? Promise.resolve(show(live.series)) : refreshHistory()).then(() => latest && updateParts(latest));
  });
  byId('ranges').append(el('label', { for: `range-${id}` }, input, label));
}

const find = byId('find') as HTMLInputElement;
const failed = byId('failed') as HTMLInputElement;
const filter = (): void => {
  filterTables(find.value, failed.checked);
  if (route.view === 'log') {
    logView.show(find.value, failed.checked);
  }
  if (latest !== undefined) {
    updateParts(latest);
  }
};
find.addEventListener('input', filter);
failed.addEventListener('change', filter);

byId('pause').addEventListener('click', (event) => {
  paused = !paused;
  const button = event.currentTarget as HTMLElement;
  button.setAttribute('aria-pressed', String(paused));
});

const remembered = (): string | null => {
  try {
    return localStorage.getItem('theme');
  } catch {
    return null;
  }
};

function useTheme(theme: string): void {
  document.documentElement.dataset['theme'] = theme;
  setText(byId('theme'), theme === 'dark' ? 'Light' : 'Dark');
  for (const chart of Object.values(charts)) {
    chart.redraw();
  }
}

useTheme(remembered() ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
byId('theme').addEventListener('click', () => {
  const theme = document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // The choice lasts as long as the page.
  }
  useTheme(theme);
});

addEventListener('hashchange', follow);
follow();
void run();

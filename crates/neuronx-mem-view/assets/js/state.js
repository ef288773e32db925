// What is chosen at the moment, and who wants to know. Knows no recording and no element.

const state = {
  event: 0, range: [0, 1], axis: 'event', colour: 'site', pinned: -1, hovered: -1, isWalking: false, table: 'peak',
  filter: { text: '', min: 0, max: Infinity, stream: -1, site: -1 }, theme: 'light', allSites: false,
};

const watchers = [];
let changed = new Set();
let settled = Promise.resolve();

/** Calls back once a frame after any of the named parts changed. */
function watch(names, act) {
  watchers.push({ names, act });
}

function change(parts) {
  if (changed.size === 0) settled = new Promise((done) => requestAnimationFrame(() => { tell(); done(); }));
  for (const [name, value] of Object.entries(parts)) {
    state[name] = value;
    changed.add(name);
  }
}

function tell() {
  const names = changed;
  changed = new Set();
  for (const watcher of watchers) if (watcher.names.some((name) => names.has(name))) watcher.act();
}

/** Resolves when everything that was changed is drawn. */
async function drawn() {
  while (changed.size > 0) await settled;
}

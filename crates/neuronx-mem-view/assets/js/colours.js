// The colours of blocks. Knows what they are told apart by; the rest of the colours is in the style.

const HUES = ['#3b7ded', '#e8843c', '#2f9e6b', '#a855c7', '#d64545', '#0e9bb5', '#b8860b', '#e0559a',
  '#6b7bd6', '#7a9a2e', '#c2703d', '#4fa3a5'];
const OTHER = HUES.length;
const DIM = HUES.length + 1;

const AGES = ['youngest sixteenth', 'to an eighth', 'to a quarter', 'to a half', 'older'];
const SIZES = [[1 << 12, 'below 4 KiB'], [1 << 16, 'to 64 KiB'], [1 << 20, 'to 1 MiB'], [1 << 24, 'to 16 MiB'],
  [1 << 28, 'to 256 MiB'], [Infinity, 'larger']];

const colours = {
  /** Sites with a colour of their own: those that hold most at the peak, then those that allocate most. */
  sites: new Map(),

  start(recording) {
    const sums = new Map();
    recording.siteIdxs.forEach((site, id) => sums.set(site, (sums.get(site) ?? 0) + recording.blockBytes[id]));
    const busiest = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([site]) => site);
    const most = recording.sitesAtPeak().map((row) => row.site);
    for (const site of [...most.slice(0, 8), ...busiest, ...most]) {
      if (this.sites.size < HUES.length && !this.sites.has(site)) this.sites.set(site, this.sites.size);
    }
  },

  style(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  },

  /** All colours by number, in the theme in force. */
  table() {
    return [...HUES, this.style('--other'), this.style('--dim')];
  },

  /** The number of a block's colour. */
  of(recording, id, event) {
    if (state.colour === 'site') return this.sites.get(recording.siteIdxs[id]) ?? OTHER;
    if (state.colour === 'stream') return recording.streamIdxs[id] % HUES.length;
    if (state.colour === 'size') return SIZES.findIndex(([limit]) => recording.blockBytes[id] < limit);
    const age = (event - recording.births[id]) / Math.max(1, recording.last);
    return age < 1 / 16 ? 0 : age < 1 / 8 ? 1 : age < 1 / 4 ? 2 : age < 1 / 2 ? 3 : 4;
  },

  /** What the colours mean: pairs of number and text. */
  legend(recording) {
    if (state.colour === 'size') return SIZES.map(([, text], idx) => [idx, text]);
    if (state.colour === 'age') return AGES.map((text, idx) => [idx, idx === 0 ? `${text} of the run` : text]);
    if (state.colour === 'stream') {
      const shared = recording.about.streams.length > HUES.length;
      const rows = recording.streams().filter(([, idx]) => idx < HUES.length).map(([stream, idx]) => [idx, `stream ${stream}`]);
      return shared ? [...rows, [DIM, `${count(recording.about.streams.length)} streams share these colours`]] : rows;
    }
    const held = recording.sitesAt(state.event).map((row) => row.site);
    const named = held.filter((site) => this.sites.has(site)).slice(0, 8);
    const rows = named.map((site) => [this.sites.get(site), recording.siteName(site)]);
    return held.some((site) => !this.sites.has(site)) ? [...rows, [OTHER, 'others']] : rows;
  },
};

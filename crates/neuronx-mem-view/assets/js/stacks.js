// The table of stacks: who holds memory at the peak or at the moment chosen.

const FIRST_ROWS = 15;

const stacks = {
  start(recording) {
    this.recording = recording;
    byId('stacks-peak').addEventListener('click', () => change({ table: 'peak' }));
    byId('stacks-moment').addEventListener('click', () => change({ table: 'moment' }));
    byId('stacks-more').addEventListener('click', () => change({ allSites: !state.allSites }));
    watch(['table', 'event', 'filter', 'theme', 'allSites'], () => this.draw());
    this.draw();
  },

  draw() {
    const { recording } = this;
    const isPeak = state.table === 'peak';
    byId('stacks-peak').setAttribute('aria-pressed', String(isPeak));
    byId('stacks-moment').setAttribute('aria-pressed', String(!isPeak));
    const rows = isPeak ? recording.sitesAtPeak() : recording.sitesAt(state.event);
    const known = rows.reduce((sum, row) => sum + row.bytes, 0);
    const rest = isPeak ? 0 : recording.restAt(state.event);
    const event = isPeak ? recording.about.totals.peak_event : state.event;
    byId('stacks-text').textContent = `event ${count(event)} · ${size(known)} in ${plural(rows.length, 'stack', 'stacks')}`
      + (rest > 0 ? ` · up to ${size(rest)} more in blocks that this page does not have one by one` : '');
    const shown = state.allSites ? rows : rows.slice(0, FIRST_ROWS);
    byId('stacks').tBodies[0].replaceChildren(...shown.map((row) => this.row(row, known)));
    const more = byId('stacks-more');
    more.hidden = rows.length <= FIRST_ROWS;
    more.textContent = state.allSites ? 'Show fewer' : `Show all ${count(rows.length)}`;
  },

  row(row, whole) {
    const { recording } = this;
    const colour = colours.table()[colours.sites.get(row.site) ?? OTHER];
    const bar = element('i', { colour });
    bar.style.width = `${(row.bytes / Math.max(1, whole)) * 100}%`;
    const frames = recording.frames(row.site);
    const name = element('button', { class: 'site', type: 'button', title: 'Show only this stack', on: { click: () => filter.bySite(row.site) } },
      swatch(colour), element('span', { class: frames.length ? 'mono' : '' }, recording.siteName(row.site)));
    const wholeStack = frames.length > 1
      ? element('details', {}, element('summary', {}, plural(frames.length, 'frame', 'frames')), details.stack(row.site)) : null;
    return element('tr', { class: state.filter.site === row.site ? 'on' : '' },
      element('td', {}, name, wholeStack, element('div', { class: 'bar' }, bar)),
      element('td', { class: 'number' }, size(row.bytes)),
      element('td', { class: 'number' }, percent(row.bytes, whole)),
      element('td', { class: 'number' }, count(row.blocks)));
  },
};

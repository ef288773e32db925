// Which allocations count: by stack, size and stream. And the search, which finds single ones.

const filter = {
  /** Bytes of matching blocks at every point of the timeline; `null` without a filter. */
  sums: null,
  matching: null,

  start(recording) {
    this.recording = recording;
    const streams = recording.streams().map(([stream, idx]) => element('option', { value: String(idx) }, `stream ${stream}`));
    byId('filter-stream').replaceChildren(element('option', { value: '-1' }, 'any'), ...streams);
    const read = () => this.read();
    byId('filter').addEventListener('input', read);
    byId('filter').addEventListener('submit', (submit) => submit.preventDefault());
    byId('filter-clear').addEventListener('click', () => this.clear());
    watch(['filter', 'event'], () => this.words());
    search.start(recording);
    this.words();
  },

  read() {
    const [low, high] = [byId('filter-min'), byId('filter-max')];
    const bytes = (input, otherwise) => (input.value.trim() === '' ? otherwise : parseSize(input.value));
    const [min, max] = [bytes(low, 0), bytes(high, Infinity)];
    low.setAttribute('aria-invalid', String(Number.isNaN(min)));
    high.setAttribute('aria-invalid', String(Number.isNaN(max)));
    this.set({
      text: byId('filter-text').value.trim().toLowerCase(), stream: Number(byId('filter-stream').value),
      min: Number.isNaN(min) ? 0 : min, max: Number.isNaN(max) ? Infinity : max, site: state.filter.site,
    });
  },

  clear() {
    for (const id of ['filter-text', 'filter-min', 'filter-max']) byId(id).value = '';
    byId('filter-stream').value = '-1';
    state.filter.site = -1;
    this.read();
  },

  bySite(site) {
    this.set({ ...state.filter, site: state.filter.site === site ? -1 : site });
  },

  set(wanted) {
    state.filter = wanted;
    this.find();
    change({ filter: wanted, filterSums: true });
  },

  isOn() {
    const { text, min, max, stream, site } = state.filter;
    return text !== '' || min > 0 || max < Infinity || stream >= 0 || site >= 0;
  },

  matches(id) {
    return this.matching === null || this.matching[id] === 1;
  },

  /** Looks at every allocation once, and adds up the matching ones over the timeline. */
  find() {
    this.matching = null;
    this.sums = null;
    if (!this.isOn()) return;
    const { recording } = this;
    const { text, min, max, stream, site } = state.filter;
    const sites = recording.about.sites.stacks.map((_, idx) => (site < 0 || site === idx)
      && (text === '' || recording.siteText(idx).includes(text)));
    this.matching = new Uint8Array(recording.count);
    this.sums = new Float64Array(recording.reserved.length);
    for (let id = 0; id < recording.count; id += 1) {
      const bytes = recording.bytes[id];
      if (!sites[recording.siteIdxs[id]] || bytes < min || bytes > max
        || (stream >= 0 && recording.streamIdxs[id] !== stream)) continue;
      this.matching[id] = 1;
      this.sums[Math.floor(recording.births[id] / recording.tile)] += recording.blockBytes[id];
      const death = recording.deaths[id];
      // Within one tile a life shows all the same: it ends with the next.
      if (death !== STILL_LIVE) {
        const end = Math.ceil(death / recording.tile);
        if (end < this.sums.length) this.sums[end] -= recording.blockBytes[id];
      }
    }
    for (let at = 1; at < this.sums.length; at += 1) this.sums[at] += this.sums[at - 1];
  },

  words() {
    const { recording } = this;
    const { site } = state.filter;
    const chip = byId('filter-site');
    chip.hidden = site < 0;
    chip.textContent = site < 0 ? '' : recording.siteName(site);
    byId('filter-clear').disabled = !this.isOn();
    if (!this.isOn()) {
      byId('filter-result').textContent = `${plural(recording.about.n_allocations, 'allocation', 'allocations')}, no filter`;
      return;
    }
    const total = this.matching.reduce((sum, one) => sum + one, 0);
    const live = recording.liveAt(state.event).filter((id) => this.matching[id]);
    const bytes = live.reduce((sum, id) => sum + recording.blockBytes[id], 0);
    byId('filter-result').textContent = `${count(total)} of ${count(recording.count)} match; `
      + `${plural(live.length, 'block', 'blocks')} at this moment, ${size(bytes)}`;
  },
};

const search = {
  start(recording) {
    this.recording = recording;
    const input = byId('search');
    input.addEventListener('input', () => this.show());
    input.addEventListener('focus', () => this.show());
    input.addEventListener('keydown', (key) => {
      if (key.key === 'Enter') byId('search-results').querySelector('button')?.click();
      if (key.key === 'Escape') this.close();
      if (key.key === 'ArrowDown') byId('search-results').querySelector('button')?.focus();
    });
    document.addEventListener('click', (click) => {
      if (!click.target.closest('.search')) this.close();
    });
  },

  close() {
    byId('search-results').hidden = true;
  },

  /** Allocations whose address, number or stack is what was typed; the largest of a stack first. */
  find(typed) {
    const { recording } = this;
    const text = typed.trim().toLowerCase();
    const ids = Array.from({ length: recording.count }, (_, id) => id);
    if (/^0x[0-9a-f]{1,16}$/.test(text)) {
      const address = BigInt(text);
      return ids.filter((id) => recording.addresses[id] <= address
        && address < recording.addresses[id] + BigInt(Math.max(1, recording.blockBytes[id])));
    }
    if (/^#[\d,]+$/.test(text)) {
      const number = Number(text.slice(1).replaceAll(',', ''));
      return ids.filter((id) => recording.numberOf(id) === number);
    }
    const sites = recording.about.sites.stacks.map((_, idx) => recording.siteText(idx).includes(text));
    return ids.filter((id) => sites[recording.siteIdxs[id]])
      .sort((a, b) => recording.blockBytes[b] - recording.blockBytes[a] || a - b);
  },

  show() {
    const typed = byId('search').value;
    const list = byId('search-results');
    list.hidden = typed.trim() === '';
    if (list.hidden) return;
    const found = this.find(typed);
    const row = (id) => element('li', {}, element('button', { type: 'button', on: { click: () => this.go(id) } },
      `${size(this.recording.bytes[id])} at 0x${this.recording.addresses[id].toString(16)}, event ${count(this.recording.births[id])} — ${this.recording.siteName(this.recording.siteIdxs[id])}`));
    const more = found.length === 0 ? 'Nothing found among the allocations on this page.'
      : `${plural(found.length, 'allocation', 'allocations')}${found.length > 30 ? ', 30 shown' : ''}`;
    list.replaceChildren(...found.slice(0, 30).map(row), element('li', { class: 'muted' }, more));
  },

  go(id) {
    const { births, deaths } = this.recording;
    const isLive = births[id] <= state.event && state.event < deaths[id];
    change({ pinned: id, event: isLive ? state.event : births[id] });
    this.close();
  },
};

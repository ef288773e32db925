// What is known of one allocation: beside the map when kept, at the pointer when pointed at.

const details = {
  start(recording) {
    this.recording = recording;
    watch(['pinned', 'hovered', 'event', 'filter'], () => this.draw());
    byId('unpin').addEventListener('click', () => change({ pinned: -1 }));
    this.draw();
  },

  /** Name and value of everything known. */
  facts(id) {
    const { recording } = this;
    const birth = recording.births[id];
    const death = recording.deaths[id];
    const when = (event) => (recording.hasTimes && recording.tile === 1
      ? `event ${count(event)}, ${duration(recording.timeOf(event))} from the start` : `event ${count(event)}`);
    const age = death === STILL_LIVE ? recording.last - birth : death - birth;
    const facts = [
      ['Asked for', exact(recording.bytes[id])],
      ['Block', exact(recording.blockBytes[id])],
      ['Address', recording.addresses[id] === 0n && recording.bytes[id] === 0 ? 'none: a request of no bytes' : `0x${recording.addresses[id].toString(16)}`],
      ['Allocated', birth === 0 ? 'before the first event' : when(birth)],
      ['Freed', death === STILL_LIVE ? 'not in this recording' : when(death)],
      ['Lifetime', plural(age, 'event', 'events')],
      ['Stream', String(recording.about.streams[recording.streamIdxs[id]])],
      ['Number', `#${count(recording.numberOf(id))}`],
    ];
    const trace = recording.traceIds[id];
    if (trace) facts.push(['Trace id', trace.toString()]);
    const segment = recording.mapAt(state.event).segments.find((held) => held.blocks.includes(id));
    if (segment) {
      const offset = Number(recording.addresses[id]) - segment.start;
      facts.push(['Segment', `0x${recording.segments.addresses[segment.idx].toString(16)} of ${size(segment.bytes)}, ${size(offset)} from its start`]);
    }
    return facts;
  },

  stack(site) {
    const frames = this.recording.frames(site);
    if (frames.length === 0) return element('p', { class: 'muted' }, this.recording.siteName(site));
    const row = (frame) => element('li', {}, element('span', { class: 'mono' }, frame.name || '(no name)'),
      frame.file ? element('small', {}, placeOf(frame)) : null);
    return element('ol', { class: 'stack' }, ...frames.map(row));
  },

  draw() {
    const { recording } = this;
    const isPinned = state.pinned >= 0;
    byId('unpin').hidden = !isPinned;
    // The mouse has its own words at the pointer; those who walk with the keyboard read here.
    const walked = state.isWalking ? state.hovered : -1;
    const id = isPinned ? state.pinned : walked;
    const holder = byId('details');
    if (id < 0) {
      holder.replaceChildren(...this.largest());
      return;
    }
    const rows = this.facts(id).flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]);
    const go = (event) => ({ click: () => change({ event }) });
    const death = recording.deaths[id];
    const site = recording.siteIdxs[id];
    holder.replaceChildren(
      element('p', { class: 'size' }, size(recording.bytes[id])),
      element('dl', {}, ...rows),
      this.stack(site),
      element('div', { class: 'actions' },
        element('button', { type: 'button', on: go(recording.births[id]) }, 'Go to its allocation'),
        death === STILL_LIVE ? null : element('button', { type: 'button', on: go(death) }, 'Go to its free'),
        element('button', { type: 'button', on: { click: () => filter.bySite(site) } }, 'Only this stack')),
    );
  },

  /** What there is to keep, when nothing is kept: the largest blocks of the moment. */
  largest() {
    const { recording } = this;
    const live = recording.liveAt(state.event).filter((id) => recording.places[id] >= 0 && filter.matches(id));
    const most = live.sort((a, b) => recording.blockBytes[b] - recording.blockBytes[a] || a - b).slice(0, 10);
    const row = (id) => element('li', {}, element('button', { type: 'button', on: { click: () => change({ pinned: id }) } },
      element('b', {}, size(recording.bytes[id])), element('span', {}, recording.siteName(recording.siteIdxs[id]))));
    return [
      element('p', { class: 'muted' }, 'Point at a block for what it is, click it to keep it here.'),
      most.length ? element('h3', {}, 'Largest blocks at this moment') : null,
      element('ul', { class: 'largest' }, ...most.map(row)),
    ].filter(Boolean);
  },

  tip(id) {
    const { recording } = this;
    const birth = recording.births[id];
    const trace = recording.traceIds[id] ? ` · trace id ${recording.traceIds[id]}` : '';
    const time = recording.hasTimes && recording.tile === 1 ? ` at ${duration(recording.timeOf(birth))}` : '';
    const frames = recording.frames(recording.siteIdxs[id]).slice(0, 4);
    const lines = frames.length ? frames.map((frame) => `${frame.name}${frame.file ? `  ${placeOf(frame, shortFile)}` : ''}`)
      : [recording.siteName(recording.siteIdxs[id])];
    return [
      element('b', {}, size(recording.bytes[id])),
      element('div', { class: 'mono' }, `0x${recording.addresses[id].toString(16)} · stream ${recording.about.streams[recording.streamIdxs[id]]}${trace}`),
      element('div', { class: 'muted' }, `born at event ${count(birth)}${time}`),
      ...lines.map((line) => element('div', { class: 'mono' }, line)),
    ];
  },
};

/** Points at blocks of a canvas with the mouse; `hit` finds the block at a pixel. */
function hover(canvas, hit) {
  const tip = byId('tip');
  canvas.addEventListener('mousemove', (move) => {
    const box = canvas.getBoundingClientRect();
    const id = hit(move.clientX - box.left, move.clientY - box.top);
    if (id !== state.hovered) change({ hovered: id, isWalking: false });
    tip.hidden = id < 0;
    if (id < 0) return;
    tip.replaceChildren(...details.tip(id));
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(move.clientX + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${Math.max(4, move.clientY + 18 + height > innerHeight ? move.clientY - height - 12 : move.clientY + 18)}px`;
  });
  canvas.addEventListener('mouseleave', () => {
    tip.hidden = true;
    change({ hovered: -1, isWalking: false });
  });
}

// The timeline: reserved, allocated and active bytes by event or by time. Knows how many points fit a
// width and never drops a peak.

/** Up to so many points are drawn one by one, as steps. */
const MAX_STEPS = 2500;

const timeline = {
  plot: null,

  start(recording) {
    this.recording = recording;
    this.build();
    new ResizeObserver(() => {
      const width = this.width();
      if (width > 0 && width !== this.plot.width) this.resize(width);
    }).observe(byId('timeline'));
    watch(['range', 'filterSums'], () => this.fill());
    watch(['axis', 'theme'], () => this.build());
    watch(['event'], () => this.plot.redraw(false));
  },

  width() {
    return byId('timeline').clientWidth;
  },

  resize(width) {
    this.plot.setSize({ width, height: this.plot.height });
    this.fill();
  },

  /** Where an event stands on the axis, and back. */
  x(event) {
    return state.axis === 'time' ? this.recording.timeOf(event) / 1e6 : event;
  },

  eventAt(x) {
    const event = state.axis === 'time' ? this.recording.eventOfTime(x * 1e6) : Math.round(x);
    return Math.min(this.recording.last, Math.max(0, event));
  },

  build() {
    this.plot?.destroy();
    const style = (name) => colours.style(name);
    const grid = { stroke: style('--line'), width: 1 };
    const axis = { stroke: style('--muted'), grid, ticks: grid, font: '12px system-ui, sans-serif' };
    const series = (label, colour, soft, width = 1.25) => ({
      label, stroke: style(colour), fill: `${style(colour)}${soft}`, width, points: { show: false },
      paths: (u, ...rest) => (this.isStepped ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear())(u, ...rest),
    });
    this.plot = new uPlot({
      width: Math.max(200, this.width()),
      height: window.innerWidth < 560 ? 220 : 270,
      legend: { show: false },
      padding: [20, 36, 0, 0],
      cursor: { y: false, points: { size: 7 }, drag: { x: true, y: false, setScale: false, dist: 6 } },
      scales: {
        x: { time: false, range: () => [this.x(state.range[0]), Math.max(this.x(state.range[1]), this.x(state.range[0]) + 1e-6)] },
        y: { range: (u, low, high) => [0, this.top(high)] },
      },
      axes: [
        { ...axis, values: (u, ticks) => ticks.map((tick) => this.tick(tick)), space: 90 },
        { ...axis, size: 76, values: (u, ticks) => ticks.map((tick) => size(tick)), incrs: Array.from({ length: 56 }, (_, n) => 2 ** n) },
      ],
      series: [
        {},
        series('reserved', '--reserved', '2e'),
        series('allocated', '--allocated', '3d'),
        series('active', '--active', '38'),
        { ...series('filter', '--filter', '40', 1.75), show: true },
      ],
      hooks: {
        draw: [(u) => this.decorate(u)],
        setSelect: [(u) => this.zoomTo(u)],
        setCursor: [() => legend.show(this.recording, this.cursorEvent())],
        ready: [(u) => this.listen(u)],
      },
    }, this.data(), byId('timeline'));
    legend.show(this.recording, null);
  },

  /** The device's memory is shown when it is near enough not to flatten the rest. */
  top(high) {
    const total = this.recording.about.device_total;
    const top = Math.max(high || 0, 1) * 1.06;
    return total && total < top * 1.6 ? Math.max(top, total * 1.04) : top;
  },

  tick(tick) {
    if (state.axis === 'time') return tick === 0 ? '0' : duration(tick * 1e6);
    return Number.isInteger(tick) ? count(tick) : '';
  },

  fill() {
    this.plot.setData(this.data());
  },

  /** Points of the visible range: every one, or the largest and smallest of each stretch. */
  data() {
    const { recording } = this;
    const { tile } = recording;
    const columns = [recording.reserved, recording.allocated, recording.active];
    const lows = [recording.low.reserved, recording.low.allocated, recording.low.active];
    const [from, to] = state.range;
    const first = Math.max(0, Math.floor(from / tile) - 1);
    const end = Math.min(columns[0].length, Math.ceil(to / tile) + 2);
    const filtered = filter.sums;
    const xs = [];
    const ys = [[], [], []];
    const matched = [];
    this.isStepped = tile === 1 && end - first <= MAX_STEPS;
    const stretch = this.isStepped ? 1 : Math.max(1, (end - first) / Math.max(200, this.width() * 1.2));
    for (let start = first; start < end; start += stretch) {
      const begin = Math.floor(start);
      const stop = Math.min(end, Math.max(begin + 1, Math.floor(start + stretch)));
      const isOne = this.isStepped || (stop === begin + 1 && tile === 1);
      xs.push(this.x(begin * tile));
      if (!isOne) xs.push(this.x(Math.min(recording.last, ((begin + stop) / 2) * tile)));
      columns.forEach((column, idx) => {
        let high = column[begin];
        let low = (lows[idx] ?? column)[begin];
        for (let at = begin + 1; at < stop; at += 1) {
          high = Math.max(high, column[at]);
          low = Math.min(low, (lows[idx] ?? column)[at]);
        }
        ys[idx].push(high);
        if (!isOne) ys[idx].push(low);
      });
      let most = filtered ? filtered[begin] : null;
      for (let at = begin + 1; filtered && at < stop; at += 1) most = Math.max(most, filtered[at]);
      matched.push(most);
      if (!isOne) matched.push(most);
    }
    return [xs, ...ys, matched];
  },

  /** Marks, errors, the peak and the moment, over the plot. */
  decorate(u) {
    const { recording } = this;
    const { about } = recording;
    const pen = u.ctx;
    const { left, top, width, height } = u.bbox;
    const scale = devicePixelRatio;
    const at = (event) => u.valToPos(this.x(event), 'x', true);
    const isIn = (x) => x >= left - 1 && x <= left + width + 1;
    pen.save();
    pen.font = `${11.5 * scale}px system-ui, sans-serif`;
    pen.textBaseline = 'alphabetic';
    pen.textAlign = 'left';
    const line = (x, colour, dash, thick = 1) => {
      pen.strokeStyle = colour;
      pen.lineWidth = thick * scale;
      pen.setLineDash(dash.map((part) => part * scale));
      pen.beginPath();
      pen.moveTo(x, top);
      pen.lineTo(x, top + height);
      pen.stroke();
    };
    let free = left;
    for (const [event, kind, label] of about.marks) {
      const x = at(event);
      if (!isIn(x) || kind === 2 || x < free) continue;
      line(x, colours.style('--strong'), [2, 3]);
      const text = label.length > 22 ? `${label.slice(0, 21)}…` : label;
      const wide = pen.measureText(text).width;
      free = x + 14 * scale;
      if (x + wide + 4 * scale > left + width) continue;
      pen.fillStyle = colours.style('--muted');
      pen.fillText(text, x + 3 * scale, top - 6 * scale);
      free = x + wide + 14 * scale;
    }
    if (about.device_total && about.device_total <= u.scales.y.max) {
      const y = u.valToPos(about.device_total, 'y', true);
      pen.strokeStyle = colours.style('--danger');
      pen.setLineDash([6 * scale, 4 * scale]);
      pen.lineWidth = scale;
      pen.beginPath();
      pen.moveTo(left, y);
      pen.lineTo(left + width, y);
      pen.stroke();
      this.label(pen, `device memory ${size(about.device_total)}`, left + 6 * scale, y < top + 16 * scale ? y + 13 * scale : y - 5 * scale, '--danger', left, width);
    }
    for (const [event] of about.ooms) {
      const x = at(event);
      if (!isIn(x)) continue;
      line(x, colours.style('--danger'), [], 2);
      this.label(pen, 'OOM', x + 5 * scale, top + 28 * scale, '--danger', left, width);
    }
    const peak = at(about.totals.peak_event);
    if (about.totals.peak_event > 0 && isIn(peak)) {
      line(peak, colours.style('--peak'), [4, 3], 1.5);
      this.label(pen, `peak ${size(about.totals.allocated_peak)}`, peak + 5 * scale, top + 13 * scale, '--peak', left, width);
    }
    const now = at(state.event);
    if (isIn(now)) {
      line(now, colours.style('--text'), [], 1.5);
      pen.fillStyle = colours.style('--text');
      pen.beginPath();
      pen.moveTo(now - 5 * scale, top + height + 6 * scale);
      pen.lineTo(now + 5 * scale, top + height + 6 * scale);
      pen.lineTo(now, top + height - 1 * scale);
      pen.fill();
    }
    pen.restore();
  },

  /** A text with a ground of its own, kept inside the plot. */
  label(pen, text, x, y, colour, left, width) {
    const wide = pen.measureText(text).width;
    const pad = 3 * devicePixelRatio;
    const at = Math.max(left + pad, Math.min(x, left + width - wide - pad));
    pen.globalAlpha = 0.85;
    pen.fillStyle = colours.style('--surface');
    pen.fillRect(at - pad, y - 10 * devicePixelRatio, wide + 2 * pad, 13 * devicePixelRatio);
    pen.globalAlpha = 1;
    pen.fillStyle = colours.style(colour);
    pen.fillText(text, at, y);
  },

  cursorEvent() {
    const { left } = this.plot.cursor;
    return left === undefined || left < 0 ? null : this.eventAt(this.plot.posToVal(left, 'x'));
  },

  zoomTo(u) {
    const { left, width } = u.select;
    if (width < 6) return;
    const from = this.eventAt(u.posToVal(left, 'x'));
    const to = this.eventAt(u.posToVal(left + width, 'x'));
    this.dragged = true;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (to > from) zoom(from, to);
  },

  listen(u) {
    u.over.addEventListener('click', () => {
      const event = this.cursorEvent();
      if (!this.dragged && event !== null) change({ event });
      this.dragged = false;
    });
    u.over.addEventListener('dblclick', () => zoom(0, this.recording.last));
  },
};

/** The words above the timeline: the sums under the pointer, else at the moment chosen. */
const legend = {
  show(recording, event) {
    const at = event ?? state.event;
    const sums = recording.sumsAt(at);
    const upTo = sums.isExact ? '' : '≤ ';
    const row = (name, colour, bytes) => element('span', {}, swatch(`var(${colour})`), `${name} ${upTo}${size(bytes)}`);
    byId('legend').replaceChildren(
      row('reserved', '--reserved', sums.reserved), row('allocated', '--allocated', sums.allocated),
      row('active', '--active', sums.active),
      element('span', {}, event === null ? `at the chosen moment` : `at event ${count(at)}`),
    );
  },
};

/** Shows a range of events, at least a few. */
function zoom(from, to) {
  const { last } = timeline.recording;
  const wide = Math.max(Math.min(10, last), to - from);
  const start = Math.max(0, Math.min(from, last - wide));
  change({ range: [start, Math.max(1, Math.min(last, start + wide))] });
}

function zoomBy(factor) {
  const [from, to] = state.range;
  const isIn = state.event >= from && state.event <= to;
  const middle = isIn ? state.event : (from + to) / 2;
  zoom(Math.round(middle - (middle - from) * factor), Math.round(middle + (to - middle) * factor));
}

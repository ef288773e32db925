// Addresses over time: a block is a rectangle, its life from left to right. Shares the horizontal axis
// with the timeline. Says how many rectangles it leaves out.

/** Rectangles of one picture; of more the largest. */
const MAX_RECTANGLES = 60000;

const lanes = {
  start(recording) {
    this.recording = recording;
    this.canvas = byId('lanes');
    watch(['range', 'axis', 'colour', 'filter', 'theme', 'size'], () => this.draw());
    watch(['event', 'pinned', 'hovered'], () => this.overlay());
    hover(this.canvas, (x, y) => this.hit(x, y));
    this.canvas.addEventListener('click', (click) => {
      const box = this.canvas.getBoundingClientRect();
      change({ event: this.eventAt(click.clientX - box.left) });
    });
    this.canvas.addEventListener('dblclick', () => zoom(0, recording.last));
    this.canvas.addEventListener('keydown', (key) => walk(key, this.recording));
    this.draw();
  },

  /** The picture's place, CSS pixels: below the plot of the timeline. */
  frame() {
    const { left, width } = timeline.plot.bbox;
    return { left: left / devicePixelRatio, width: width / devicePixelRatio, height: this.canvas.clientHeight };
  },

  eventAt(x) {
    const { left } = this.frame();
    return timeline.eventAt(timeline.plot.posToVal(x - left, 'x'));
  },

  /** A function from event to pixels, and one from packed place to pixels. */
  scales() {
    const { left, width, height } = this.frame();
    const low = timeline.x(state.range[0]);
    const high = Math.max(timeline.x(state.range[1]), low + 1e-6);
    const x = (event) => left + ((timeline.x(event) - low) / (high - low)) * width;
    const y = (place) => (place / Math.max(1, this.recording.packedBytes)) * height;
    return { x, y, left, right: left + width, height };
  },

  /** Left, top, width and height of a life within the picture. */
  rectangle({ x, y, left, right }, birth, death, place, bytes) {
    const from = Math.max(left, x(birth));
    const to = death === STILL_LIVE ? right : Math.min(right, x(death));
    return [from, y(place), Math.max(0.6, to - from), Math.max(0.6, y(bytes))];
  },

  draw() {
    const { recording } = this;
    const pen = penOf(this.canvas);
    const scales = this.scales();
    const [from, to] = state.range;
    const isSeen = (birth, death) => birth <= to && death > from;
    pen.fillStyle = colours.style('--sunken');
    pen.fillRect(scales.left, 0, scales.right - scales.left, scales.height);
    const { segments } = recording;
    pen.fillStyle = colours.style('--free');
    segments.births.forEach((birth, idx) => {
      if (!isSeen(birth, segments.deaths[idx])) return;
      const place = recording.segmentPlaces[idx];
      const [x, y, w, h] = this.rectangle(scales, birth, segments.deaths[idx], place, segments.bytes[idx]);
      pen.fillRect(x, y, w, Math.max(0.5, h - (h > 3 ? 0.7 : 0)));
    });
    const { chosen, seen } = this.choose(isSeen);
    const table = colours.table();
    const groups = table.map(() => []);
    for (const id of chosen) groups[filter.matches(id) ? colours.of(recording, id, to) : DIM].push(id);
    [DIM, ...groups.keys()].forEach((colour, turn) => {
      if (turn > 0 && colour === DIM) return;
      pen.fillStyle = table[colour];
      for (const id of groups[colour]) {
        const [x, y, w, h] = this.rectangle(scales, recording.births[id], recording.deaths[id], recording.places[id], recording.blockBytes[id]);
        pen.fillRect(x, y, w > 3 ? w - 0.5 : w, h > 3 ? h - 0.5 : h);
      }
    });
    this.picture = pen.getImageData(0, 0, this.canvas.width, this.canvas.height);
    const left = chosen.length < seen ? `the ${count(chosen.length)} largest of ${plural(seen, 'block', 'blocks')} in view drawn; zoom in for the others` : plural(seen, 'block', 'blocks');
    byId('lanes-note').textContent =
      `${left} · from top to bottom ${size(recording.packedBytes)} of addresses, gaps between segments left out`;
    this.overlay();
  },

  /** The blocks in view; of too many the largest by bytes and life. */
  choose(isSeen) {
    const { recording } = this;
    const seen = [];
    const born = after(recording.births, state.range[1]);
    for (let id = 0; id < born; id += 1) {
      if (recording.places[id] >= 0 && isSeen(recording.births[id], recording.deaths[id])) seen.push(id);
    }
    if (seen.length <= MAX_RECTANGLES) return { chosen: seen, seen: seen.length };
    const area = (id) => recording.blockBytes[id]
      * (Math.min(recording.deaths[id], state.range[1]) - Math.max(recording.births[id], state.range[0]) + 1);
    const areas = Float64Array.from(seen, area).sort();
    const least = areas[areas.length - MAX_RECTANGLES];
    return { chosen: seen.filter((id) => area(id) >= least).slice(0, MAX_RECTANGLES), seen: seen.length };
  },

  /** The moment and the blocks pointed at, over the picture. */
  overlay() {
    if (!this.picture) return;
    const pen = this.canvas.getContext('2d');
    pen.putImageData(this.picture, 0, 0);
    const scales = this.scales();
    const x = scales.x(state.event);
    if (x >= scales.left && x <= scales.right) {
      pen.fillStyle = colours.style('--text');
      pen.fillRect(x - 0.75, 0, 1.5, scales.height);
    }
    for (const id of [state.pinned, state.hovered]) {
      if (id < 0 || this.recording.places[id] < 0) continue;
      const { births, deaths, places, blockBytes } = this.recording;
      if (births[id] > state.range[1] || deaths[id] < state.range[0]) continue;
      const [left, top, w, h] = this.rectangle(scales, births[id], deaths[id], places[id], blockBytes[id]);
      pen.strokeStyle = colours.style('--text');
      pen.lineWidth = 2;
      pen.strokeRect(left - 1, top - 1, w + 2, h + 2);
    }
  },

  /** The block at a pixel, or the nearest within two pixels; -1 for none. */
  hit(x, y) {
    const { recording } = this;
    const scales = this.scales();
    if (x < scales.left || x > scales.right) return -1;
    const event = this.eventAt(x);
    const place = (y / scales.height) * recording.packedBytes;
    const reach = (2 / scales.height) * recording.packedBytes;
    let best = -1;
    let nearest = reach;
    const born = after(recording.births, event);
    for (let id = 0; id < born; id += 1) {
      if (event >= recording.deaths[id] || recording.places[id] < 0) continue;
      const start = recording.places[id];
      const end = start + recording.blockBytes[id];
      const far = place < start ? start - place : place >= end ? place - end + 1 : 0;
      if (far < nearest || (far === 0 && nearest > 0)) {
        best = id;
        nearest = far;
      }
    }
    return best;
  },
};

/** A clear canvas at the screen's own resolution, drawn on in CSS pixels. */
function penOf(canvas, height = canvas.clientHeight) {
  const scale = devicePixelRatio;
  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, canvas.clientWidth, height);
  return pen;
}

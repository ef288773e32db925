// The segment map: memory at one moment in order of address, like lines of a text, all at one scale.
// Free memory is what shows between blocks.

const ROW = 22;
const GAP = 5;
/** Between two segments. */
const SPACE = 4;
/** So many segments are many. */
const MANY = 4000;

const map = {
  pieces: [],

  start(recording) {
    this.recording = recording;
    this.canvas = byId('map');
    watch(['event', 'colour', 'filter', 'theme', 'size', 'pinned', 'hovered'], () => this.draw());
    hover(this.canvas, (x, y) => this.hit(x, y));
    this.canvas.addEventListener('click', (click) => {
      const box = this.canvas.getBoundingClientRect();
      change({ pinned: this.hit(click.clientX - box.left, click.clientY - box.top) });
    });
    this.canvas.addEventListener('keydown', (key) => walk(key, recording));
    byId('colour').addEventListener('change', () => change({ colour: byId('colour').value }));
    this.draw();
  },

  /** Breaks the segments into lines. */
  layout(segments, reserved, width) {
    // Thousands of segments stand closer; at least half of the picture is memory.
    const [space, least] = segments.length > MANY ? [1, 1] : [SPACE, 3];
    const few = Math.min(22, Math.max(5, Math.ceil(segments.length / 3)));
    const rows = Math.max(few, Math.ceil((2 * segments.length * space) / Math.max(1, width)));
    this.bytesPerPixel = Math.max(1, reserved / Math.max(1, width * rows - segments.length * space));
    this.pieces = [];
    let x = 0;
    let row = 0;
    for (const segment of segments) {
      let from = 0;
      while (from < segment.bytes) {
        if (x >= width - 3) {
          x = 0;
          row += 1;
        }
        const room = (width - x) * this.bytesPerPixel;
        const bytes = Math.min(room, segment.bytes - from);
        const wide = Math.max(least, bytes / this.bytesPerPixel);
        this.pieces.push({ segment, row, x, wide, from, to: from + bytes, isStart: from === 0 });
        x += wide;
        from += bytes;
      }
      x += space;
    }
    return this.pieces.length ? row + 1 : 0;
  },

  draw() {
    const { recording } = this;
    const { segments, reserved } = recording.mapAt(state.event);
    const width = Math.max(60, this.canvas.parentElement.clientWidth);
    const rows = this.layout(segments, reserved, width);
    const height = Math.max(ROW, rows * (ROW + GAP));
    this.canvas.style.height = `${height}px`;
    const pen = penOf(this.canvas, height);
    const table = colours.table();
    const outlines = [];
    for (const piece of this.pieces) {
      const top = piece.row * (ROW + GAP);
      pen.fillStyle = colours.style('--free');
      pen.fillRect(piece.x, top, piece.wide, ROW);
      const { segment } = piece;
      const scale = piece.wide / (piece.to - piece.from);
      for (let at = this.firstBlock(segment, piece.from); at < segment.blocks.length; at += 1) {
        const id = segment.blocks[at];
        const start = Number(recording.addresses[id]) - segment.start;
        if (start >= piece.to) break;
        const left = piece.x + (Math.max(start, piece.from) - piece.from) * scale;
        const right = piece.x + (Math.min(start + recording.blockBytes[id], piece.to) - piece.from) * scale;
        const wide = right - left;
        pen.fillStyle = table[filter.matches(id) ? colours.of(recording, id, state.event) : DIM];
        pen.fillRect(left, top, Math.max(0.8, wide > 4 ? wide - 1 : wide), ROW);
        if (id === state.pinned || id === state.hovered) outlines.push([left, top, Math.max(2, wide), ROW]);
      }
      if (piece.isStart) {
        pen.fillStyle = colours.style('--muted');
        pen.fillRect(piece.x - 1, top - 1, 1.5, ROW + 2);
      }
    }
    pen.strokeStyle = colours.style('--text');
    pen.lineWidth = 2;
    for (const [left, top, wide, tall] of outlines) pen.strokeRect(left - 1, top - 1, wide + 1, tall + 2);
    this.words(segments, reserved);
  },

  /** The first block of a segment that ends behind an offset. */
  firstBlock(segment, offset) {
    const { recording } = this;
    let low = 0;
    let high = segment.blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const id = segment.blocks[middle];
      if (Number(recording.addresses[id]) - segment.start + recording.blockBytes[id] <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  },

  words(segments, reserved) {
    const blocks = segments.reduce((sum, segment) => sum + segment.blocks.length, 0);
    const rest = this.recording.restAt(state.event);
    const parts = [
      `event ${count(state.event)}`, `${plural(segments.length, 'segment', 'segments')}, ${size(reserved)}`,
      plural(blocks, 'block', 'blocks'), `1 pixel is ${size(this.bytesPerPixel)}`,
    ];
    byId('to-whole').hidden = rest === 0 || this.recording.about.whole_moments.length === 0;
    if (rest > 0) parts.push(`up to ${size(rest)} in smaller blocks that this page does not have one by one`);
    byId('map-text').textContent = parts.join(' · ');
    const rows = colours.legend(this.recording);
    const table = colours.table();
    byId('map-legend').replaceChildren(
      ...rows.map(([colour, text]) => element('span', {}, swatch(table[colour]), text)),
      element('span', {}, swatch(colours.style('--free')), 'free in a segment'),
    );
  },

  /** The block at a pixel; -1 for free memory. */
  hit(x, y) {
    const row = Math.floor(y / (ROW + GAP));
    const piece = this.pieces.find((it) => it.row === row && x >= it.x && x < it.x + it.wide);
    if (!piece || y - row * (ROW + GAP) > ROW) return -1;
    const offset = piece.from + ((x - piece.x) / piece.wide) * (piece.to - piece.from);
    const near = Math.max(this.bytesPerPixel, 1);
    const at = this.firstBlock(piece.segment, offset);
    const id = piece.segment.blocks[at] ?? -1;
    if (id < 0) return -1;
    const start = Number(this.recording.addresses[id]) - piece.segment.start;
    return start <= offset + near * 0.5 ? id : -1;
  },

  /** Where a block is drawn, CSS pixels in the canvas; `null` when it is not. */
  whereIs(id) {
    for (const piece of this.pieces) {
      const start = Number(this.recording.addresses[id]) - piece.segment.start;
      const end = start + this.recording.blockBytes[id];
      if (!piece.segment.blocks.includes(id) || start >= piece.to || end <= piece.from) continue;
      const scale = piece.wide / (piece.to - piece.from);
      const left = piece.x + (Math.max(start, piece.from) - piece.from) * scale;
      const wide = (Math.min(end, piece.to) - Math.max(start, piece.from)) * scale;
      return { x: left + wide / 2, y: piece.row * (ROW + GAP) + ROW / 2, width: wide };
    }
    return null;
  },
};

/** From block to block with the arrow keys, in order of address; Enter keeps one. */
function walk(key, recording) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key.key];
  if (key.key === 'Enter' && state.hovered >= 0) change({ pinned: state.hovered });
  if (!step && key.key !== 'Enter') return;
  key.preventDefault();
  key.stopPropagation();
  if (!step) return;
  const blocks = recording.mapAt(state.event).segments.flatMap((segment) => segment.blocks);
  if (blocks.length === 0) return;
  const from = blocks.indexOf(state.hovered >= 0 ? state.hovered : state.pinned);
  const next = from < 0 ? 0 : Math.min(blocks.length - 1, Math.max(0, from + step));
  change({ hovered: blocks[next], isWalking: true });
}

// The recording: what happened, and memory at any moment. Knows what is exact and what is summed up;
// draws nothing.

const STILL_LIVE = 0xffffffff;

class Recording {
  constructor({ description, columns }) {
    this.about = description;
    Object.assign(this, {
      reserved: columns.reserved, allocated: columns.allocated, active: columns.active,
      low: { reserved: columns.reserved_low, allocated: columns.allocated_low, active: columns.active_low },
      times: columns.times, rest: columns.rest, numbers: columns.numbers,
      bytes: columns.bytes, blockBytes: columns.block_bytes, addresses: columns.addresses,
      births: columns.births, deaths: columns.deaths, streamIdxs: columns.stream_idxs,
      siteIdxs: columns.site_idxs, traceIds: columns.trace_ids,
    });
    this.segments = {
      addresses: columns.segment_addresses, bytes: columns.segment_bytes, births: columns.segment_births,
      deaths: columns.segment_deaths, streams: columns.segment_streams, flags: columns.segment_flags,
    };
    this.tile = description.tile_events;
    this.last = description.n_events;
    this.count = this.bytes.length;
    this.hasTimes = this.times.length > 0 && this.times[this.times.length - 1] > 0;
    this.pack();
  }

  /** Lays all ranges that were ever reserved end to end, so that the gaps between them take no room. */
  pack() {
    const { addresses, bytes } = this.segments;
    const order = Array.from(addresses.keys()).sort((a, b) => (addresses[a] < addresses[b] ? -1 : 1));
    this.ranges = { starts: [], ends: [], bases: [] };
    let base = 0;
    for (const idx of order) {
      const start = Number(addresses[idx]);
      const end = start + bytes[idx];
      const at = this.ranges.ends.length - 1;
      if (at >= 0 && start <= this.ranges.ends[at]) {
        const grown = Math.max(0, end - this.ranges.ends[at]);
        this.ranges.ends[at] += grown;
        base += grown;
      } else {
        this.ranges.starts.push(start);
        this.ranges.ends.push(end);
        this.ranges.bases.push(base);
        base += end - start;
      }
    }
    this.packedBytes = base;
    this.places = new Float64Array(this.count);
    for (let id = 0; id < this.count; id += 1) this.places[id] = this.placeOf(Number(this.addresses[id]));
    this.segmentPlaces = Float64Array.from(addresses, (address) => this.placeOf(Number(address)));
  }

  /** Where an address lies among the packed ranges; -1 outside. */
  placeOf(address) {
    const at = after(this.ranges.starts, address) - 1;
    if (at < 0 || address >= this.ranges.ends[at]) return -1;
    return this.ranges.bases[at] + address - this.ranges.starts[at];
  }

  /** The number of an allocation in the input, from 0. */
  numberOf(id) {
    return this.numbers.length ? this.numbers[id] : id;
  }

  /** Sums after an event; `isExact` when the page has them of this very event. */
  sumsAt(event) {
    const tile = Math.floor(event / this.tile);
    if (this.tile > 1 && this.isWhole(event)) {
      const live = this.liveAt(event);
      const sum = (column) => live.reduce((total, id) => total + column[id], 0);
      return { reserved: this.reservedAt(event), allocated: sum(this.blockBytes), active: sum(this.bytes), isExact: true };
    }
    return {
      reserved: this.reserved[tile], allocated: this.allocated[tile], active: this.active[tile], isExact: this.tile === 1,
    };
  }

  reservedAt(event) {
    const { births, deaths, bytes } = this.segments;
    let sum = 0;
    for (let idx = 0; idx < births.length && births[idx] <= event; idx += 1) if (event < deaths[idx]) sum += bytes[idx];
    return sum;
  }

  /** Microseconds from the first event to this one. */
  timeOf(event) {
    if (!this.hasTimes) return 0;
    const tile = event / this.tile;
    const before = Math.min(Math.floor(tile), this.times.length - 1);
    const next = Math.min(before + 1, this.times.length - 1);
    return this.times[before] + (this.times[next] - this.times[before]) * (tile - before);
  }

  /** The last event at or before a time. */
  eventOfTime(us) {
    const at = Math.max(0, after(this.times, us) - 1);
    if (this.tile === 1) return at;
    const next = Math.min(at + 1, this.times.length - 1);
    const width = this.times[next] - this.times[at];
    const part = width > 0 ? (us - this.times[at]) / width : 0;
    return Math.min(this.last, Math.floor((at + Math.min(part, 0.999)) * this.tile));
  }

  isLive(id, event) {
    return this.births[id] <= event && event < this.deaths[id];
  }

  /** The allocations on the page that an event leaves live. The last answer is kept, for reading only. */
  liveAt(event) {
    if (this.live?.event === event) return this.live.ids;
    const born = after(this.births, event);
    const live = [];
    for (let id = 0; id < born; id += 1) if (event < this.deaths[id]) live.push(id);
    this.live = { event, ids: live };
    return live;
  }

  /** Whether everything that lives at a moment is on the page one by one. */
  isWhole(event) {
    const moments = this.about.whole_moments;
    return moments === null || moments.includes(event);
  }

  /** Bytes at a moment of blocks that are not on the page one by one; of a tile, at most. */
  restAt(event) {
    if (this.isWhole(event)) return 0;
    return this.rest[Math.floor(event / this.tile)] ?? 0;
  }

  /** Segments after an event in order of address, with their blocks. The last answer is kept. */
  mapAt(event) {
    if (this.map?.event === event) return this.map;
    const { births, deaths, addresses, bytes } = this.segments;
    const held = [];
    for (let idx = 0; idx < births.length && births[idx] <= event; idx += 1) {
      if (event < deaths[idx]) held.push({ idx, start: Number(addresses[idx]), bytes: bytes[idx], blocks: [] });
    }
    held.sort((a, b) => a.start - b.start);
    const starts = held.map((segment) => segment.start);
    for (const id of this.liveAt(event)) {
      const address = Number(this.addresses[id]);
      const segment = held[after(starts, address) - 1];
      if (segment && address < segment.start + segment.bytes && this.blockBytes[id] > 0) {
        segment.blocks.push(id);
      }
    }
    for (const segment of held) segment.blocks.sort((a, b) => this.places[a] - this.places[b]);
    this.map = { event, segments: held, reserved: held.reduce((sum, segment) => sum + segment.bytes, 0) };
    return this.map;
  }

  /** What each site holds at a moment, most first. */
  sitesAt(event) {
    const sums = new Map();
    for (const id of this.liveAt(event)) {
      const sum = sums.get(this.siteIdxs[id]) ?? { site: this.siteIdxs[id], bytes: 0, blocks: 0 };
      sum.bytes += this.blockBytes[id];
      sum.blocks += 1;
      sums.set(sum.site, sum);
    }
    return [...sums.values()].sort((a, b) => b.bytes - a.bytes || a.site - b.site);
  }

  sitesAtPeak() {
    return this.about.peak_sites.map(([site, bytes, blocks]) => ({ site, bytes, blocks }));
  }

  /** Frames of a site, innermost first. */
  frames(site) {
    const { texts, frames, stacks } = this.about.sites;
    return (stacks[site] ?? []).map((frame) => {
      const [name, file, line] = frames[frame];
      return { name: texts[name], file: texts[file], line };
    });
  }

  /** Streams by number, each with its position in the columns. */
  streams() {
    return this.about.streams.map((stream, idx) => [stream, idx]).sort((a, b) => a[0] - b[0]);
  }

  /** One line for a site: its innermost frame, or the phase of the program. */
  siteName(site) {
    const frames = this.frames(site);
    if (frames.length > 0) {
      // An operator of the framework has no file: what called it tells one from another.
      const [first] = frames;
      const placed = frames.find((frame) => frame.file);
      if (!placed) return first.name;
      const place = placeOf(placed, shortFile);
      return placed === first ? `${first.name}  ${place}` : `${first.name}  in ${placed.name}  ${place}`;
    }
    const { texts, phases } = this.about.sites;
    const phase = phases[site] === null || phases[site] === undefined ? '' : texts[phases[site]];
    return phase ? `phase “${phase}”` : 'no stack recorded';
  }

  /** Everything that is written in a site, in lower case. */
  siteText(site) {
    this.siteTexts ??= [];
    this.siteTexts[site] ??= [this.siteName(site), ...this.frames(site)
      .map((frame) => `${frame.name} ${frame.file}:${frame.line}`)].join('\n').toLowerCase();
    return this.siteTexts[site];
  }

  /** What an event was, in words. */
  eventText(event) {
    if (event === 0) return 'before the first event';
    const oom = this.about.ooms.find(([at]) => at === event);
    if (oom) return `out of memory: a request of ${size(oom[1])} failed`;
    const mark = this.about.marks.find(([at]) => at === event);
    const born = after(this.births, event) - 1;
    if (born >= 0 && this.births[born] === event) return `allocates ${size(this.bytes[born])}`;
    const died = this.diedAt(event);
    if (died >= 0) return `frees ${size(this.bytes[died])}`;
    return mark ? `mark “${mark[2]}”` : '';
  }

  /** An allocation that an event ended; -1 for none. */
  diedAt(event) {
    if (!this.byDeath) {
      this.byDeath = Uint32Array.from(this.deaths.keys()).sort((a, b) => this.deaths[a] - this.deaths[b]);
      this.sortedDeaths = this.byDeath.map((id) => this.deaths[id]);
    }
    const at = after(this.sortedDeaths, event) - 1;
    return at >= 0 && this.sortedDeaths[at] === event ? this.byDeath[at] : -1;
  }
}

/** File and line; not every frame has a line. */
function placeOf(frame, name = (file) => file) {
  return frame.line ? `${name(frame.file)}:${frame.line}` : name(frame.file);
}

function shortFile(file) {
  const parts = file.split('/');
  return parts.length > 3 ? `…/${parts.slice(-2).join('/')}` : file;
}

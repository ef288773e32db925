// Numbers and elements as people read them. Knows no recording. Texts become text nodes, never markup.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** Bytes in the unit that suits them: `1.50 GiB`. */
function size(bytes) {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || Number.isInteger(value) ? value : value.toFixed(2)} ${UNITS[unit]}`;
}

/** A whole number with separators. */
function count(number) {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1,234 B` beside a size that is rounded. */
function exact(bytes) {
  return bytes < 1024 ? size(bytes) : `${size(bytes)} (${count(bytes)} B)`;
}

/** Microseconds: `12.3 ms`. */
function duration(us) {
  if (us < 1e3) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${Number((us / 1e3).toPrecision(4))} ms`;
  if (us < 6e7) return `${Number((us / 1e6).toPrecision(4))} s`;
  const seconds = us / 1e6;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${String(minutes).padStart(hours ? 2 : 1, '0')}:${(seconds % 60).toFixed(1).padStart(4, '0')}`;
  return hours ? `${hours}:${rest} h` : `${rest} min`;
}

function percent(part, whole) {
  if (!whole) return '–';
  const value = (part / whole) * 100;
  return value > 0 && value < 0.1 ? '< 0.1 %' : `${value.toFixed(1)} %`;
}

function plural(number, one, many) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Bytes that a person typed: `512`, `4 MiB`, `1.5g`. NaN for anything else. */
function parseSize(text) {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)(?:i?b)?\s*$/i.exec(text);
  if (!match) return NaN;
  return Number(match[1]) * 1024 ** ' kmgtp'.indexOf(match[2].toLowerCase() || ' ');
}

const byId = (id) => document.getElementById(id);

/** An element with properties and children; strings become text. */
function element(name, properties, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (key === 'on') for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (key === 'class') made.className = value;
    else if (key === 'colour') made.style.background = value;
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const swatch = (colour) => element('i', { class: 'swatch', colour, 'aria-hidden': 'true' });

/** The first position of a sorted column whose value is greater. */
function after(column, value, length = column.length) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

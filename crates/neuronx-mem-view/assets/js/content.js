// The content of the file: unpacks it into a description and typed columns. Interprets nothing.

const KINDS = { f64: Float64Array, u64: BigUint64Array, u32: Uint32Array, u16: Uint16Array };

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function unpack() {
  const holder = byId('content');
  const packed = bytesOf(holder.textContent.trim());
  holder.textContent = '';
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const buffer = await new Response(stream).arrayBuffer();
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const description = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const columns = {};
  for (const [name, place] of Object.entries(description.columns)) {
    columns[name] = new KINDS[place.kind](buffer, 8 + length + place.start, place.length);
  }
  return { description, columns };
}

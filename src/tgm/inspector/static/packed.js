// What a report holds, packed: gzip as base64 in an element of the page.

export async function unpacked(id) {
  if (!window.DecompressionStream) throw new Error("this browser is older than 2023 and cannot unpack the report");
  const packed = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// The chart library, plotly. The page holds it compressed, since it is larger than everything else.
async function loadLibrary() {
  const packed = atob(document.getElementById("library").textContent);
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.head.append(script);
}

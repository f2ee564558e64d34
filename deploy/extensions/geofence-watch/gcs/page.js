// Runs in the node's page, in a sandboxed frame without network. `svc` is all that it has: docs/extensions.md.
// @ts-check
const line = document.createElement('p');
line.setAttribute('role', 'status');
line.textContent = 'Asking …';
document.body.append(line);

// @ts-expect-error it is there before this script runs
const node = globalThis.svc;

/** @param {number | null} value */
const metres = (value) => (value === null ? '–' : `${value.toFixed(0)} m`);

async function look() {
  try {
    const state = await node.request({ capability: 'state.read' });
    const { inside, distance_m: distance, margin_m: margin } = state[`plugin.${node.id}.status`].payload;
    const word = inside === null ? 'Position not known' : inside ? 'Inside the fence' : 'OUTSIDE THE FENCE';
    line.textContent = `${word} · ${metres(distance)} from home · ${metres(margin)} to the border`;
  } catch (error) {
    line.textContent = error instanceof Error ? error.message : String(error);
  }
}

void look();
setInterval(look, 1000);

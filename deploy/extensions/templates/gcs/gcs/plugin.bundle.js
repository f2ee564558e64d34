// Runs in a sandboxed frame without network: all that it gets comes through `svc`, which is there before this script runs.
const text = document.createElement('p');
text.textContent = 'No data yet.';
document.body.append(text);

svc.on('telemetry', ({ armed, mode }) => {
  text.textContent = `${armed ? 'Armed' : 'Disarmed'}, ${mode ?? 'mode not known'}`;
});
svc.request({ capability: 'telemetry.subscribe' }).catch((error) => {
  text.textContent = error.message;
});

// Runs in a sandboxed frame without network: all that it gets comes through the port that the page hands over.
const text = document.createElement('p');
text.textContent = 'No data yet.';
document.body.append(text);

addEventListener('message', ({ ports: [port] }) => {
  if (port === undefined) return;
  port.addEventListener('message', ({ data }) => {
    text.textContent = JSON.stringify(data);
  });
  port.start();
});

/** The measure of the front: node:http alone, answering what the front answers to GET /api/ping and /api/commands. */
import { createServer } from 'node:http';
import { COMMANDS } from '../../shared/flight/command-catalogue.ts';

const server = createServer((req, res) => {
  const text = JSON.stringify(req.url === '/api/commands' ? { commands: COMMANDS } : { pong: Date.now() });
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') process.send?.({ port: address?.port });
});
process.on('disconnect', () => process.exit());

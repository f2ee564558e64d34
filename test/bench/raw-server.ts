/** The measure of the front: node:http alone, answering the very bytes that the front answered (sent to it by path). */
import { createServer } from 'node:http';

const texts = new Map<string, string>();
const server = createServer((req, res) => {
  const text = texts.get(req.url ?? '') ?? '{}';
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
});
process.on('message', ({ path, text }: { readonly path: string; readonly text: string }) => {
  texts.set(path, text);
  process.send?.({ stored: path });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') process.send?.({ port: address?.port });
});
process.on('disconnect', () => process.exit());

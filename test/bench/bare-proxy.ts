/** The measure of the proxy: http-proxy-middleware alone between two plain servers, the upstream on a Unix socket. */
import { Agent, createServer } from 'node:http';
import { createProxyMiddleware } from 'http-proxy-middleware';

const [socketPath = '', role] = process.argv.slice(2);
if (role === 'upstream') {
  const text = 'x'.repeat(500);
  createServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    res.end(text);
  }).listen(socketPath, () => process.send?.({}));
} else {
  const proxy = createProxyMiddleware({
    target: { socketPath, protocol: 'http:', host: 'localhost', port: 80 },
    agent: new Agent({ keepAlive: true, maxFreeSockets: 64 }),
    ejectPlugins: true,
  });
  const server = createServer((req, res) => void proxy(req, res));
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.send?.({ port: address?.port });
  });
}
process.on('disconnect', () => process.exit());

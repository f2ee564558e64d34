/** The measure of the proxy: http-proxy-middleware alone between two plain servers, the upstream on a Unix socket. */
import { Agent, createServer } from 'node:http';
import { createProxyMiddleware } from 'http-proxy-middleware';

const [socketPath = '', role] = process.argv.slice(2);
if (role === 'upstream') {
  // What the node answered, sent by the bench: the same bytes.
  let answer: { readonly text: string; readonly headers: Readonly<Record<string, string>> } = {
    text: '',
    headers: {},
  };
  process.on('message', (given: typeof answer) => {
    answer = given;
    process.send?.({});
  });
  createServer((_req, res) => {
    res.writeHead(200, answer.headers);
    res.end(answer.text);
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
